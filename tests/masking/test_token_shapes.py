"""Tokens of many providers and ways to write a login, as they are in the wild: none is left in a text.

They are made up here, so that nobody who looks for tokens in source code finds one. The list was written down before
the patterns were.
"""

import random
import re
from importlib import import_module

import pytest

from assent.secrets.mask import Masker
from assent.secrets.token_shapes import MIN_TOKEN_LENGTH, tokens

pytestmark = pytest.mark.spec("I3")

R = random.Random(7)
A = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
HEX = "0123456789abcdef"
U = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
L = "abcdefghijklmnopqrstuvwxyz0123456789"
B32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def a(size: int, letters: str = A) -> str:
    """Characters at random, letters and digits among them."""
    while True:
        made = "".join(R.choice(letters) for _ in range(size))
        if size < 8 or letters.isdigit() or (re.search(r"[0-9]", made) and re.search(r"[A-Za-z]", made)):
            return made


def uuid() -> str:
    return "-".join(a(size, HEX) for size in (8, 4, 4, 4, 12))


TOKENS = {
    "github classic": "ghp_" + a(36),
    "github oauth": "gho_" + a(36),
    "github user": "ghu_" + a(36),
    "github server": "ghs_" + a(36),
    "github refresh": "ghr_" + a(76),
    "github fine": "github_pat_" + a(22) + "_" + a(59),
    "gitlab pat": "glpat-" + a(20),
    "gitlab routable": "glpat-" + a(27) + ".01." + a(9, L),
    "gitlab deploy": "gldt-" + a(20),
    "gitlab runner": "glrt-" + a(20),
    "gitlab ci": "glcbt-64_" + a(20),
    "gitlab trigger": "glptt-" + a(40, HEX),
    "gitlab feed": "glft-" + a(20),
    "gitlab agent": "glagent-" + a(50),
    "gitlab oauth": "gloas-" + a(64, HEX),
    "gitlab soat": "glsoat-" + a(20),
    "gitlab imt": "glimt-" + a(25),
    "gitlab runner reg": "GR1348941" + a(20),
    "gitlab ffct": "glffct-" + a(20),
    "slack bot": "xoxb-123456789012-1234567890123-" + a(24),
    "slack user": "xoxp-123456789012-123456789012-123456789012-" + a(32, HEX),
    "slack app": "xapp-1-A0123456789-1234567890123-" + a(64, HEX),
    "slack legacy": "xoxs-1234567890-" + a(20),
    "slack config": "xoxe.xoxp-1-" + a(140),
    "slack refresh": "xoxe-1-" + a(140),
    "slack cookie": "xoxd-" + a(40),
    "slack client": "xoxc-123456789012-123456789012-123456789012-" + a(64, HEX),
    "slack workspace": "xoxa-2-" + a(30),
    "slack xoxr": "xoxr-" + a(40),
    "slack webhook": "https://hooks.slack.com/services/T" + a(8, U) + "/B" + a(10, U) + "/" + a(24),
    "slack workflow": "https://hooks.slack.com/workflows/T"
    + a(8, U)
    + "/A"
    + a(10, U)
    + "/"
    + a(18, "0123456789")
    + "/"
    + a(24),
    "slack triggers": "https://hooks.slack.com/triggers/T" + a(8, U) + "/1234567890/" + a(32, HEX),
    "stripe sk live": "sk_live_" + a(24),
    "stripe sk test": "sk_test_" + a(24),
    "stripe rk": "rk_live_" + a(24),
    "stripe rk test": "rk_test_" + a(24),
    "stripe long": "sk_live_51" + a(97),
    "stripe wh": "whsec_" + a(32),
    "aws akia": "AKIA" + a(16, B32),
    "aws asia": "ASIA" + a(16, B32),
    "aws secret ini": "aws_secret_access_key = " + a(40),
    "aws bedrock": "ABSK" + a(109),
    "aws session": "aws_session_token = " + a(200),
    "aws abia": "ABIA" + a(16, B32),
    "gcp key": "AIza" + a(35),
    "gcp oauth": "ya29." + a(100),
    "gcp refresh": "1//0" + a(40) + "-" + a(40),
    "gcp client secret": "GOCSPX-" + a(28),
    "gcp aq key": "AQ.Ab8RN6" + a(40),
    "azure storage": "AccountKey=" + a(86) + "==",
    "azure storage conn": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey="
    + a(86)
    + "==;EndpointSuffix=core.windows.net",
    "azure sas": "https://x.blob.core.windows.net/c?sv=2020-08-04&ss=b&sig=" + a(40) + "%3D&se=2030",
    "azure sb": "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=" + a(43) + "=",
    "azure client secret": a(3) + "8Q~" + a(34),
    "azure devops": a(76) + "AZDO" + a(4),
    "azure storage bare": a(76) + "+AStA" + a(4).replace("A", "B") + "==",
    "openai": "sk-" + a(20) + "T3BlbkFJ" + a(20),
    "openai proj": "sk-proj-" + a(48),
    "openai proj long": "sk-proj-" + a(74) + "T3BlbkFJ" + a(74),
    "openai svc": "sk-svcacct-" + a(60),
    "openai admin": "sk-admin-" + a(60),
    "anthropic": "sk-ant-api03-" + a(93) + "AA",
    "anthropic admin": "sk-ant-admin01-" + a(93) + "AA",
    "anthropic oat": "sk-ant-oat01-" + a(90) + "AA",
    "anthropic sid": "sk-ant-sid01-" + a(86) + "-" + a(8) + "AA",
    "openrouter": "sk-or-v1-" + a(64, HEX),
    "deepseek": "sk-" + a(32, HEX),
    "groq": "gsk_" + a(52),
    "xai": "xai-" + a(80),
    "perplexity": "pplx-" + a(48),
    "replicate": "r8_" + a(37),
    "hf": "hf_" + a(34),
    "hf org": "api_org_" + a(34),
    "fireworks": "fw_" + a(24),
    "cohere ini": "COHERE_API_KEY=" + a(40),
    "langsmith": "lsv2_pt_" + a(32, HEX) + "_" + a(10, HEX),
    "cerebras": "csk-" + a(48, L),
    "tavily": "tvly-" + a(32),
    "nvidia": "nvapi-" + a(64),
    "wandb": "WANDB_API_KEY=" + a(40, HEX),
    "pinecone": "pcsk_" + a(6) + "_" + a(60),
    "elevenlabs": "sk_" + a(48, HEX),
    "npm": "npm_" + a(36),
    "npmrc": "//registry.example.org/:_authToken=" + a(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + a(80),
    "docker": "dckr_pat_" + a(27),
    "docker oat": "dckr_oat_" + a(32),
    "rubygems": "rubygems_" + a(48, HEX),
    "crates": "cio" + a(32),
    "nuget": "oy2" + a(43, L),
    "cargo": "cargo registry token: cio" + a(32),
    "clojars": "CLOJARS_" + a(60, L),
    "jfrog": "AKCp" + a(69),
    "jfrog ref": "cmVmdGtuO" + a(55),
    "artifactory jwt": "eyJ2ZXIiOiIyIiwidHlwIjoiSldUIn0." + a(60) + "." + a(60),
    "do": "dop_v1_" + a(64, HEX),
    "do oauth": "doo_v1_" + a(64, HEX),
    "do refresh": "dor_v1_" + a(64, HEX),
    "doppler": "dp.pt." + a(43),
    "doppler st": "dp.st.dev." + a(43),
    "doppler ct": "dp.ct." + a(43),
    "fly": "FlyV1 fm2_" + a(100),
    "fly fo1": "fo1_" + a(43),
    "heroku": "HRKU-" + uuid(),
    "heroku aa": "HRKU-AA" + a(58),
    "render": "rnd_" + a(28),
    "railway": "RAILWAY_TOKEN=" + uuid(),
    "linear": "lin_api_" + a(40),
    "linear oauth": "lin_oauth_" + a(64, HEX),
    "notion": "ntn_" + a(46),
    "notion old": "secret_" + a(43),
    "asana": "1/1234567890123456:" + a(32, HEX),
    "asana2": "2/1234567890123456/1234567890123456:" + a(32, HEX),
    "airtable": "pat" + a(14) + "." + a(64, HEX),
    "figma": "figd_" + a(40),
    "clickup": "pk_12345678_" + a(32, U),
    "postman": "PMAK-" + a(24, HEX) + "-" + a(34, HEX),
    "typeform": "tfp_" + a(44),
    "intercom": "dG9rOg" + a(50),
    "contentful": "CFPAT-" + a(43),
    "mailgun": "key-" + a(32, HEX),
    "mailgun new": a(32, HEX) + "-" + a(8, HEX) + "-" + a(8, HEX),
    "sendgrid": "SG." + a(22) + "." + a(43),
    "mailchimp": a(32, HEX) + "-us12",
    "twilio sk": "SK" + a(32, HEX),
    "twilio ac auth": "TWILIO_AUTH_TOKEN: " + a(32, HEX),
    "telegram": "123456789:AA" + a(33),
    "sendinblue": "xkeysib-" + a(64, HEX) + "-" + a(16),
    "brevo smtp": "xsmtpsib-" + a(64, HEX) + "-" + a(16),
    "resend": "re_" + a(8) + "_" + a(24),
    "postmark ini": "POSTMARK_SERVER_TOKEN=" + uuid(),
    "loops mandrill": "md-" + a(22),
    "discord bot": "MTA" + a(23) + "." + "G" + a(5) + "." + a(38),
    "discord webhook": "https://discord.com/api/webhooks/123456789012345678/" + a(68),
    "discord mfa": "mfa." + a(84),
    "teams webhook": "https://x.webhook.office.com/webhookb2/"
    + uuid()
    + "@"
    + uuid()
    + "/IncomingWebhook/"
    + a(32, HEX)
    + "/"
    + uuid(),
    "zapier hook": "https://hooks.zapier.com/hooks/catch/123456/" + a(7, L) + "/",
    "telegram url": "https://api.telegram.org/bot123456789:AA" + a(33) + "/getMe",
    "shopify": "shpat_" + a(32, HEX),
    "shopify ca": "shpca_" + a(32, HEX),
    "shopify pa": "shppa_" + a(32, HEX),
    "shopify ss": "shpss_" + a(32, HEX),
    "shopify ut": "shpua_" + a(32, HEX),
    "square": "sq0atp-" + a(22),
    "square sec": "sq0csp-" + a(43),
    "square new": "EAAA" + a(60),
    "paypal": "access_token$production$" + a(16, L) + "$" + a(32, HEX),
    "braintree": "access_token$sandbox$" + a(16, L) + "$" + a(32, HEX),
    "plaid": "access-sandbox-" + uuid(),
    "razorpay": "rzp_live_" + a(14),
    "flutterwave": "FLWSECK-" + a(32, HEX) + "-X",
    "paystack": "sk_live_" + a(40, HEX),
    "adyen": "AQE" + a(60) + "-" + a(40) + "=-" + a(16),
    "facebook": "EAACEdEose0cBA" + a(100),
    "facebook2": "EAAG" + a(150),
    "datadog": "DD_API_KEY=" + a(32, HEX),
    "newrelic": "NRAK-" + a(27, U),
    "newrelic ins": "NRIQ-" + a(32),
    "newrelic lic": a(36, HEX) + "NRAL",
    "newrelic js": "NRJS-" + a(19, HEX),
    "sentry dsn": "https://" + a(32, HEX) + ":" + a(32, HEX) + "@o1.ingest.sentry.io/1",
    "sentry dsn public": "https://" + a(32, HEX) + "@o123.ingest.sentry.io/123",
    "sentry user": "sntryu_" + a(64, HEX),
    "sentry org": "sntrys_eyJ" + a(80) + "=" + "_" + a(43),
    "grafana sa": "glsa_" + a(32) + "_" + a(8, HEX),
    "grafana cloud": "glc_eyJ" + a(100),
    "grafana old": "eyJrIjoi" + a(80),
    "honeycomb": "hcaik_01" + a(58, L),
    "logz": "LOGZIO_TOKEN=" + a(32),
    "dynatrace": "dt0c01." + a(24, U) + "." + a(64, U),
    "sumologic ini": "SUMO_ACCESS_KEY=" + a(64),
    "posthog": "phx_" + a(43),
    "pagerduty": "pdus+_0XBPWQQ_" + uuid(),
    "launchdarkly": "sdk-" + uuid(),
    "launchdarkly api": "api-" + uuid(),
    "sonar": "sqp_" + a(40, HEX),
    "sonar user": "squ_" + a(40, HEX),
    "snyk": "snyk_uat." + a(8, HEX) + "." + a(60),
    "codecov": "CODECOV_TOKEN=" + uuid(),
    "buildkite": "bkua_" + a(40, HEX),
    "circleci": "CCIPAT_" + a(22) + "_" + a(40, HEX),
    "pulumi": "pul-" + a(40, HEX),
    "travis": "TRAVIS_TOKEN=" + a(22),
    "vault hvs": "hvs." + a(90),
    "vault s": "s." + a(24),
    "vault hvb": "hvb." + a(138),
    "tfc": a(14) + ".atlasv1." + a(67),
    "databricks": "dapi" + a(32, HEX),
    "databricks2": "dapi" + a(32, HEX) + "-2",
    "cloudflare ini": "CLOUDFLARE_API_TOKEN=" + a(40),
    "cloudflare origin": "v1.0-" + a(24, HEX) + "-" + a(146, HEX),
    "cloudflare new": "cfut_" + a(40),
    "supabase": "sbp_" + a(40, HEX),
    "supabase secret": "sb_secret_" + a(22) + "_" + a(8),
    "vercel": "vcp_" + a(56),
    "vercel old ini": "VERCEL_TOKEN=" + a(24),
    "vercel blob": "vercel_blob_rw_" + a(16) + "_" + a(30),
    "netlify": "nfp_" + a(36),
    "planetscale": "pscale_tkn_" + a(43),
    "planetscale pw": "pscale_pw_" + a(43),
    "planetscale oauth": "pscale_oauth_" + a(43),
    "neon": "napi_" + a(64, L),
    "atlassian": "ATATT3xFfGF0" + a(170) + "=" + a(8, U),
    "bitbucket": "ATBB" + a(24) + a(8, U),
    "atlassian ctt": "ATCTT3xFfGN0" + a(170) + "=" + a(8, U),
    "bitbucket repo": "ATBB" + a(32),
    "tailscale": "tskey-auth-" + a(12) + "-" + a(32),
    "tailscale api": "tskey-api-" + a(12) + "-" + a(32),
    "ngrok": "ak_" + a(27),
    "1password": "ops_eyJ" + a(250),
    "1password secret key": "A3-ABCDEF-ABCDEFGHJKL-ABCDE-FGHJK-ABCDE-FGHJK",
    "age": "AGE-SECRET-KEY-1" + a(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "infisical": "st." + a(24, HEX) + "." + a(32, HEX) + "." + a(32, HEX),
    "prefect": "pnu_" + a(36, L),
    "scalingo": "tk-us-" + a(48),
    "sourcegraph": "sgp_" + a(16, HEX) + "_" + a(40, HEX),
    "readme": "rdme_" + a(70, L),
    "mapbox sk": "sk.eyJ" + a(80) + "." + a(22),
    "algolia ini": "ALGOLIA_ADMIN_KEY=" + a(32, HEX),
    "alibaba": "LTAI" + a(20),
    "tencent": "AKID" + a(32),
    "yandex": "AQVN" + a(36),
    "yandex oauth": "y0_" + a(55),
    "yandex iam": "t1." + a(60) + "." + a(86),
    "hashicorp batch b.": "b.AAAAAQ" + a(90),
    "linkedin ini": "LINKEDIN_CLIENT_SECRET=" + a(16),
    "twitter bearer": "AAAAAAAAAAAAAAAAAAAAA" + a(60) + "%3D" + a(40),
    "dropbox": "sl." + a(140),
    "easypost": "EZAK" + a(54),
    "shippo": "shippo_live_" + a(40, HEX),
    "duffel": "duffel_live_" + a(43),
    "lob": "live_" + a(35, HEX),
    "octopus": "API-" + a(26, U),
    "zuplo": "zpka_" + a(40),
    "freshbooks ini": "FRESHBOOKS_TOKEN=" + a(64, HEX),
    "supabase jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZSJ9." + a(43),
    "ssh": "-----BEGIN OPENSSH PRIVATE KEY-----\n" + a(70) + "\n" + a(70) + "\n-----END OPENSSH PRIVATE KEY-----",
    "pgp": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + a(64) + "\n" + a(64) + "\n-----END PGP PRIVATE KEY BLOCK-----",
    "rsa": "-----BEGIN RSA PRIVATE KEY-----\n" + a(64) + "\n-----END RSA PRIVATE KEY-----",
    "ec": "-----BEGIN EC PRIVATE KEY-----\n" + a(64) + "\n-----END EC PRIVATE KEY-----",
    "enc": "-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + a(64) + "\n-----END ENCRYPTED PRIVATE KEY-----",
    "json key": '{"private_key": "-----BEGIN PRIVATE KEY-----\\n' + a(64) + '\\n-----END PRIVATE KEY-----\\n"}',
    "putty": "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 2\n"
    + a(64)
    + "\n"
    + a(20)
    + "\nPrivate-Lines: 1\n"
    + a(48)
    + "\nPrivate-MAC: "
    + a(64, HEX),
    "ssh2": "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n" + a(64) + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    "wireguard": "PrivateKey = " + a(43) + "=",
    "minisign": "untrusted comment: minisign encrypted secret key\nRWRTY0Iy" + a(200),
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + a(43),
    "jwe": "eyJhbGciOiJSU0EtT0FFUCJ9." + a(40) + "." + a(16) + "." + a(30) + "." + a(22),
    "url": "https://user:" + a(12) + "@example.org/x",
    "url token only": "https://" + a(40, HEX) + "@github.com/x/y.git",
    "postgres": "postgres://app:" + a(10) + "@db/x",
    "mongodb": "mongodb+srv://u:" + a(10) + "@c.mongodb.net/x",
    "redis": "redis://:" + a(16) + "@cache:6379/0",
    "amqp": "amqp://u:" + a(12) + "@mq//",
    "jdbc": "jdbc:postgresql://h/db?user=u&password=" + a(12),
    "jdbc oracle": "jdbc:oracle:thin:scott/" + a(9) + "@//h:1521/x",
    "odbc": "Server=x;Database=y;User Id=sa;Password=" + a(12) + ";",
    "odbc pwd": "Driver={ODBC};Server=x;Uid=u;Pwd=" + a(12) + ";",
    "bearer": "Authorization: Bearer " + a(30),
    "basic": "Authorization: Basic " + a(30) + "==",
    "token hdr": "Authorization: token " + a(40, HEX),
    "raw hdr": "Authorization: " + a(40),
    "xapikey": "X-Api-Key: " + a(30),
    "cookie": "Cookie: sessionid=" + a(32),
    "set-cookie": "Set-Cookie: sid=" + a(32) + "; Path=/; HttpOnly",
    "proxy auth": "Proxy-Authorization: Basic " + a(24),
    "private-token": "PRIVATE-TOKEN: " + a(20),
    "x-auth": "X-Auth-Token: " + a(32),
    "curl -u": "curl -u admin:" + a(12) + " https://x",
    "curl --user": "curl --user admin:" + a(12) + " https://x",
    "curl -H": "curl -H 'Authorization: Bearer " + a(30) + "' https://x",
    "mysql -p": "mysql -u root -p" + a(12) + " db",
    "netrc": "machine x login y password " + a(12),
    "pgpass": "db.example.org:5432:app:me:" + a(14),
    "docker auth": '{"auths": {"x": {"auth": "' + a(40) + '=="}}}',
    "npmrc pw": "_password=" + a(24),
    "aws presigned": "https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIA"
    + a(16, U)
    + "%2F20300101&X-Amz-Signature="
    + a(64, HEX),
    "gcs signed": "https://storage.googleapis.com/b/o?X-Goog-Signature=" + a(256, HEX),
    "url token query": "https://x/y?access_token=" + a(32),
    "url key query": "https://maps/api?key=" + a(32),
    "json password": '{"password": "' + a(12) + '"}',
    "yaml token": "token: " + a(24),
    "htpasswd": "admin:$apr1$" + a(8) + "$" + a(22),
    "shadow": "root:$6$" + a(16) + "$" + a(86) + ":19000:0:99999:7:::",
    "bcrypt": "$2b$12$" + a(53),
    "kube token yaml": "    token: " + a(60),
    "kube key data": "    client-key-data: " + a(200),
    "client_secret json": '"client_secret": "' + a(24) + '"',
    "otpauth": "otpauth://totp/x?secret=" + a(16, B32),
    "set pwd": "export DB_PW=" + a(12),
    "ansible": "ansible_ssh_pass=" + a(12),
    "hex key": "SECRET_KEY_BASE=" + a(128, HEX),
}

NOT_KNOWN = {"mailgun new", "vault s", "infisical", "hashicorp batch b."}
"""Nothing in these says what they are, or no more than a letter and a dot."""

PARTLY_PUBLIC = {"putty", "sentry dsn"}


@pytest.mark.parametrize("name", sorted(TOKENS.keys() - NOT_KNOWN))
def test_no_token_is_left_in_a_text(name: str) -> None:
    masked = Masker().text(f"output: {TOKENS[name]} end\n")
    assert "[secret: " in masked
    assert masked.startswith("output: ")
    if name in PARTLY_PUBLIC:
        return
    secret = max(re.findall(r"[A-Za-z0-9]+", TOKENS[name]), key=len)
    assert secret not in masked


def _width(pattern: str) -> int:
    """The least that it matches."""
    return import_module("re._parser").parse(pattern, re.ASCII).getwidth()[0]


def test_a_token_of_a_provider_is_one_long_word() -> None:
    """Otherwise it would not be searched for where they are."""
    for shape in tokens():
        assert _width(shape.pattern) >= MIN_TOKEN_LENGTH, shape.hint
        assert re.fullmatch(r"[\w%+/=.,~@$:?&-]+", shape.hint, re.ASCII), shape.hint
        assert not re.search(r"\[\^|\\[sSWD]|[ \t]", shape.pattern.replace("(?<![", "(?<!(")), shape.pattern
