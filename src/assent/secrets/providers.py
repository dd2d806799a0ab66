"""What the tokens of providers look like: a fixed prefix, and how it continues. Data for `token_shapes`, and nothing
else.

After its prefix a token is little more than one run of one class of characters, so that a search takes linear time.
"""

from typing import NamedTuple

LEFT = r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
"""Not in the middle of a word. The n of a line ending written as `\\n` is not a letter."""
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ALNUM, _WORD, _HEX = "[A-Za-z0-9]", r"[\w-]", "[0-9a-f]"


class Provider(NamedTuple):
    kind: str
    beginnings: str
    """Separated by spaces; each is searched for as plain text."""
    rest: str
    """A regular expression for what follows."""
    left: str = LEFT
    before: int = 0
    """This many characters of `left` precede the prefix, which here is in the middle of the token."""
    mixed: bool = False
    """Only with both digits and letters: the prefix alone is too common."""


PROVIDERS = (
    # --- models ---
    Provider("Google API key", "AIza", r"[\w-]{35}(?![\w-])"),
    Provider("Google access token", "ya29.", r"[\w-]{20,}"),
    Provider("Google client secret", "GOCSPX-", r"[\w-]{20,}"),
    Provider("Google refresh token", "1//0", rf"{_WORD}{{40,}}"),
    Provider("Google API key", "AQ.Ab8", rf"{_WORD}{{30,}}"),
    Provider("Anthropic key", "sk-ant-", r"[\w-]{20,}"),
    Provider("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", r"[\w-]{20,}"),
    Provider("OpenRouter key", "sk-or-", r"[\w-]{20,}"),
    Provider("API key", "sk-", r"(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{20,}"),
    Provider("API key", "sk_", rf"{_HEX}{{40,}}"),
    Provider("Hugging Face token", "hf_ api_org_", rf"{_ALNUM}{{30,}}"),
    Provider("Groq key", "gsk_", rf"{_ALNUM}{{30,}}"),
    Provider("xAI key", "xai-", rf"{_ALNUM}{{40,}}"),
    Provider("API key", "pplx- csk- tvly- nvapi- pcsk_ lsv2_pt_ lsv2_sk_", rf"{_WORD}{{24,}}"),
    Provider("API key", "r8_ fw_", rf"{_ALNUM}{{22,}}", mixed=True),
    # --- code and packages ---
    Provider("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{36,}}", ""),
    Provider("GitHub token", "github_pat_", r"[A-Za-z0-9_]{22,}", ""),
    Provider(
        "GitLab token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glagent- gloas- glimt- glffct- glrtr- glwt- GR1348941",
        r"[\w-]{20,}(?:\.[\w]{2,}){0,3}",
    ),
    Provider("Atlassian token", "ATATT ATCTT ATSTT ATBB", r"[\w=-]{24,}"),
    Provider("npm token", "npm_", rf"{_ALNUM}{{36}}(?![A-Za-z0-9])", ""),
    Provider("PyPI token", "pypi-", r"[\w-]{50,}"),
    Provider("RubyGems key", "rubygems_", rf"{_HEX}{{40,}}"),
    Provider("crates.io token", "cio", rf"{_ALNUM}{{32}}(?!\w)", mixed=True),
    Provider("NuGet key", "oy2", r"[a-z0-9]{43}(?!\w)"),
    Provider("Clojars token", "CLOJARS_", r"[a-z0-9]{60}"),
    Provider("Artifactory token", "AKCp cmVmdGtuO", rf"{_ALNUM}{{40,}}"),
    Provider("Docker token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}", ""),
    Provider("CI token", "bkua_ CCIPAT_ pul-", r"[\w-]{24,}"),
    Provider("SonarQube token", "sqp_ squ_ sqa_", rf"{_HEX}{{40}}"),
    Provider("Snyk token", "snyk_uat. snyk_sat.", r"[\w.-]{30,}"),
    Provider("Sourcegraph token", "sgp_", r"[0-9a-f_]{40,}"),
    # --- clouds ---
    Provider("AWS key id", "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Provider("AWS key", "ABSK", r"[A-Za-z0-9+/=]{60,}"),
    Provider("AWS signature", "X-Amz-Signature= X-Goog-Signature=", rf"{_HEX}{{32,}}", ""),
    Provider("AWS session token", "X-Amz-Security-Token=", r"[\w%+/=-]{20,}", ""),
    Provider("signature", "?sig= &sig=", r"[\w%+/=-]{32,}", ""),
    Provider("key", "?key= &key=", rf"{_WORD}{{20,}}", "", mixed=True),
    Provider("Azure client secret", "Q~", r"[\w.~-]{31,40}(?![\w.~-])", r"(?<=\w\w\w[0-9])"),
    Provider("Azure token", "AZDO", rf"{_ALNUM}{{4}}(?![A-Za-z0-9])", rf"{_ALNUM}{{76}}", 76),
    Provider("Azure storage key", "+ASt", r"[A-Za-z0-9+/]{4,8}==", r"[A-Za-z0-9+/]{76}", 76),
    Provider("Alibaba key id", "LTAI", rf"{_ALNUM}{{16,24}}(?!\w)", mixed=True),
    Provider("Tencent key id", "AKID", rf"{_ALNUM}{{32}}(?!\w)"),
    Provider("Yandex token", "AQVN y0_ t1.", r"[\w.-]{35,}", mixed=True),
    Provider("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{40,}}", ""),
    Provider("Doppler token", "dp.", rf"(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_ALNUM}{{40,44}}"),
    Provider("Fly token", "fm1_ fm2_ fo1_ fm1r_", r"[\w+/=,-]{40,}"),
    Provider("Heroku key", "HRKU-", r"[\w-]{36,}"),
    Provider("deployment token", "rnd_ nfp_ nfc_ nfo_ vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", r"\w{24,}"),
    Provider("Cloudflare key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,}}"),
    Provider("Cloudflare token", "cfut_ cfat_ cfk_", rf"{_ALNUM}{{40,}}"),
    Provider("database token", "sbp_ sb_secret_ pscale_tkn_ pscale_pw_ pscale_oauth_ napi_", r"[\w.=-]{24,}"),
    Provider("Databricks token", "dapi", rf"{_HEX}{{32}}(?:-[0-9])?(?!\w)"),
    Provider("Vault token", "hvs. hvb. hvr.", r"[\w-]{20,}"),
    Provider("Terraform token", ".atlasv1.", rf"{_WORD}{{50,}}", rf"{_ALNUM}{{14}}", 14),
    Provider("Tailscale key", "tskey-", r"[a-z]{2,12}-[\w-]{20,}"),
    Provider("ngrok key", "ak_", rf"{_ALNUM}{{27}}(?!\w)", mixed=True),
    Provider("1Password token", "ops_eyJ", r"[\w=-]{40,}"),
    Provider("1Password key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,5}"),
    Provider("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}", ""),
    Provider("token", "pnu_ pnb_ tk-us- rdme_ zpka_", r"[\w-]{30,}", mixed=True),
    # --- communication ---
    Provider("Slack token", "xox", r"[abcdeoprs](?:\.xox[abp])?-[\w%-]{10,}"),
    Provider("Slack token", "xapp-", r"[0-9]-[\w-]{10,}"),
    Provider("Slack webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/\w+/\w+/\w{10,}(?:/\w{10,})?", ""),
    Provider("webhook", "/api/webhooks/", r"[0-9]{15,}/[\w-]{40,}", ""),
    Provider("webhook", ".webhook.office.com/", r"[\w/@-]{60,}", ""),
    Provider("webhook", "hooks.zapier.com/hooks/ maker.ifttt.com/use/", r"[\w/-]{12,}", ""),
    Provider("Telegram token", ":AA", rf"{_WORD}{{32,33}}(?![\w-])", r"(?<=[0-9]{8})"),
    Provider("Discord token", "MT MD Nz Nj NT OD OT", rf"{_WORD}{{21,26}}\.{_WORD}{{6}}\.{_WORD}{{27,}}"),
    Provider("Discord token", "mfa.", rf"{_WORD}{{80,}}"),
    Provider("SendGrid key", "SG.", r"[\w-]{16,}\.[\w-]{32,}"),
    Provider("Mailgun key", "key-", rf"{_HEX}{{32}}(?!\w)"),
    Provider("Mailchimp key", "-us", r"[0-9]{1,2}(?!\w)", rf"{_HEX}{{32}}", 32),
    Provider("Brevo key", "xkeysib- xsmtpsib-", r"[\w-]{40,}"),
    Provider("Resend key", "re_", rf"{_ALNUM}{{6,10}}_{_ALNUM}{{20,}}", mixed=True),
    Provider("Mandrill key", "md-", r"\w{22}(?![\w-])", mixed=True),
    Provider("Twilio key", "SK", rf"{_HEX}{{32}}(?!\w)"),
    Provider("X token", "A" * 20, r"[\w%]{60,}"),
    Provider("Facebook token", "EAA", r"[\w-]{56,}", mixed=True),
    Provider("Dropbox token", "sl.", rf"{_WORD}{{100,}}"),
    # --- payment ---
    Provider("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", rf"{_ALNUM}{{16,}}", ""),
    Provider("webhook secret", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    Provider("Shopify token", "shpat_ shpca_ shppa_ shpss_ shpua_", rf"{_HEX}{{32}}"),
    Provider("Square token", "sq0atp- sq0csp- sq0idb-", r"[\w-]{22,}"),
    Provider("PayPal token", "access_token$", rf"[a-z]+\$[a-z0-9]{{12,}}\${_HEX}{{32}}"),
    Provider("Plaid token", "access-sandbox- access-development- access-production-", _UUID),
    Provider(
        "payment key", "rzp_live_ rzp_test_ FLWSECK- FLWSECK_TEST- EZAK EZTK shippo_live_", r"[\w-]{14,}", mixed=True
    ),
    Provider("payment key", "duffel_live_ duffel_test_", rf"{_WORD}{{40,}}"),
    Provider("payment key", "live_ test_", rf"{_HEX}{{35}}(?!\w)"),
    Provider("Adyen key", "AQE", r"[\w+/=-]{80,}"),
    # --- work and monitoring ---
    Provider("Linear key", "lin_api_ lin_oauth_", rf"{_ALNUM}{{32,}}"),
    Provider("Notion token", "ntn_ secret_", rf"{_ALNUM}{{43,48}}(?!\w)"),
    Provider("Asana token", "1/ 2/", rf"[0-9]{{10,20}}(?:/[0-9]{{10,20}})?:{_HEX}{{32}}"),
    Provider("Airtable token", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    Provider("token", "figd_ tfp_ CFPAT- PMAK- dG9rOg", r"[\w=-]{38,}"),
    Provider("ClickUp token", "pk_", r"[0-9]{6,}_[A-Z0-9]{32}"),
    Provider("New Relic key", "NRAK- NRIQ- NRII- NRJS-", r"[\w-]{19,}"),
    Provider("New Relic key", "NRAL", r"(?!\w)", rf"{_HEX}{{36}}", 36),
    Provider("Sentry token", "sntryu_ sntrys_", r"[\w=+/-]{40,}"),
    Provider("Grafana token", "glsa_ glc_ eyJrIjoi", r"[\w=+/-]{40,}"),
    Provider("key", "hcaik_ hcbik_ phx_ phs_ dt0c01. dt0s01.", r"[\w.-]{40,}"),
    Provider("PagerDuty token", "pdus+_", r"[\w-]{30,}"),
    Provider("LaunchDarkly key", "sdk- api- mob-", _UUID),
    Provider("Octopus key", "API-", r"[A-Z0-9]{25,30}(?!\w)", mixed=True),
    # --- without a provider ---
    Provider("JSON Web Token", "eyJ", r"[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{8,}){0,2}"),
    Provider("Mapbox token", "sk.eyJ", r"[\w-]{40,}\.[\w-]{16,}"),
    Provider("password hash", "$2a$ $2b$ $2y$ $apr1$ $1$ $5$ $6$ $y$ $argon2", r"[\w./$=,+-]{20,}", ""),
)

WRITTEN = (
    # Ways to write a login: what to look for, the whole, and its secret as the one group.
    ("password", "://", r"://[^\s/:@'\"<>]{0,128}:([^\s/@'\"<>]{1,256})@[\w.\[]"),
    ("password", "curl ", r"curl [^\n|;&]{0,300}?(?:-u|--user)[ =]{0,2}['\"]?[^\s:'\"]{1,64}:([^\s'\"]{3,128})"),
    ("password", "mysql", r"mysql[a-z]{0,8} [^\n|;&]{0,300}?[ ]-p([^\s'\"]{3,128})"),
    ("password", "login ", r"login[ \t]{1,4}\S{1,64}\s{1,8}password[ \t]{1,4}(\S{3,128})"),
    ("password", ":5432:", r":5432:[\w*.-]{1,64}:[\w.-]{1,64}:(\S{3,128})"),
    ("password", "jdbc:oracle:thin:", r"jdbc:oracle:thin:[^\s/@]{1,64}/([^\s@]{3,128})@"),
    *(("password", f";{name}=", rf";{name}=([^;\s]{{3,128}})") for name in ("Pwd", "pwd", "PWD")),
    ("credentials", '"auth"', r'"auth"\s{0,4}:\s{0,4}"([A-Za-z0-9+/=]{12,2000})"'),
    ("private key", "Private-Lines:", r"Private-Lines:[ \t]{0,4}[0-9]{1,4}\s([A-Za-z0-9+/=\s]{20,})"),
    ("private key", "---- BEGIN SSH2 ENC", r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\s([A-Za-z0-9+/=\s]{20,})"),
    ("private key", "encrypted secret key", r"encrypted secret key\s{1,2}([A-Za-z0-9+/=]{40,})"),
    ("private key", "client-key-data:", r"client-key-data:\s{0,4}([A-Za-z0-9+/=]{40,})"),
)
IN_ADDRESS = ("token", "://", r"://([\w-]{20,256})@[\w.\[]")
"""A user name that is not a name, as in a repository address with a token before the host."""
