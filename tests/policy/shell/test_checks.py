"""What options alone cannot tell, program by program: on each line one rule, what it lets through and what it does not.

Every entry of a list of harmless words has a command here that needs it, and every check one that only it stops.
"""

import pytest

from assent.plan import simple_commands
from assent.policy.shell import judge, rules

_GOALS = "test compile verify package clean validate build check assemble tasks help dependency:tree"
_PASSED_ON = """
    --coverage --watch=false --watchAll=false --ci --silent --verbose --runInBand --bail --no-color --nocapture
    --passWithNoTests -q -v --run --quiet --no-watch -D -W -A --ignored --include-ignored --exact --show-output --check
    --test-threads=1
"""
_SHORTENED = "--end --cli-i --ca --deb --fla --conf --accou --imp --access-t --api --lo --tr --ht"
_PS_OPTIONS = "-o -p -C -u -U -g -G -t -O -q --ppid --pid --sort --user --format"
_PS_COLUMNS = "-eo -ao -axo -Ao -efo axo auxo"
_IP_OBJECTS = "a ad addr address l li link r ro route n neigh neighbour ru rule"

# rule → commands that it lets through, commands that ask all the same
ROWS: dict[str, tuple[list[str], list[str]]] = {
    "sed": (
        ["sed -n 1p f", "sed -e p f", "sed -e p -l 5 f"],
        ["sed 'w x' f", "sed -e 'w x' f", "sed --expression='w x' f", "sed -e p -e 'w x' f", "sed a* f"],
    ),
    "awk": (
        [
            "awk --version",
            "awk '{print \"a|b\"}' f",
            "awk '{print \"a>b\"}' f",
            "awk '$1>5' f",
            "awk 'a||b' f",
            "awk '{print ($1>5)}' f",
            "awk '{if ((a>b)) {print}}' f",
            "awk '{print )}' f",
        ],
        [
            "awk 'BEGIN{system(x)}'",
            "awk '{print | x}' f",
            'awk \'/"/{print | "x"} /"/\' f',
            "awk '{print > x}' f",
            "awk '{print' f",
            "awk 'function f(){print}' f",
            "awk 'BEGIN{print ENVIRON[x]}'",
            "awk '/(/{print > x} /)/' f",
            "awk '/a/{{print}}' f",
            "awk '/a/{print} func f(){print}' f",
        ],
    ),
    "jq": (["jq . f", "jq . system", "jq --version"], ["jq input_filename f", "jq 'import \"a\" as a; .' f"]),
    "yq": (
        [*(f"yq {one} .a f" for one in ("e", "eval", "ea", "eval-all")), "yq --version"],
        ["yq e 'load(x)'", "yq 'load(x)' f", "yq x eval", "yq . env", "yq 'strenv(x)' f"],
    ),
    "printf": (["printf x"], ["printf"]),
    "[": (["[ -f x ]"], ["'[' -f x", "'['", "[ -f * ]", "[ -v x ]", "[ -R x ]", "[ 'a[$(x)]' -eq 1 ]"]),
    "test": (
        ["test -f x", "test -d $HOME", "test -f x*"],
        ["test -f *", "test -v x", "test -R x", "test 'a[`x`]' -eq 1"],
    ),
    "date": (["date", "date +%s"], ["date 01010000"]),
    "cd": (["cd", "cd a", "cd $HOME"], ["cd a b", "cd -", "cd *", "cd a*"]),
    "dig": (["dig example.org MX", "dig @9.9.9.9 example.org", "dig -x 9.9.9.9"], ["dig -f x", "dig a *", "dig $HOME"]),
    "tar": (
        ["tar -tf a", "tar --list -f a", "tar tf a", "tar --version", "tar --help"],
        ["tar", "tar xf a", "tar -vf a", "tar -tf h:a", "tar tf h:a", "tar -tf a -f h:a"],
    ),
    "diff": (
        ["diff a b", "diff --from-file=a b", "diff --label=$USER a b"],
        ["diff --from-file=.env b", 'diff --from-file="$PWD/.env" b', "diff --from-file=$HOME/.ssh/id_rsa b"],
    ),
    "unzip": (
        ["unzip -l a.zip", "unzip -l a.zip .env", "unzip -p a.zip README"],
        ["unzip a.zip", "unzip -p a.zip .env", "unzip -p a.zip README .env", "unzip -p a.zip", "unzip -lp a.zip"],
    ),
    "bash": (["bash --version"], ["bash", "bash -v", "bash -h", "bash --version x"]),
    "ssh": (["ssh -V"], ["ssh a", "ssh -V a"]),
    "gzip": (["gzip -l a.gz", "gzip --version"], ["gzip a", "gzip -k", "gzip --version a"]),
    "identify": (
        ["identify a.png", "identify -format %w a.png"],
        ["identify a.svg", "identify a.png b.svg", "identify -format @x a.png"],
    ),
    "printenv": (["printenv HOME"], ["printenv API_KEY", "printenv HOME API_KEY"]),
    "ack": (["ack x f", "ack --version"], ["ack '(?{x})' f", "ack '(??{x})' f"]),
    "gh": (
        [
            *("gh issue list --label env", "gh pr list --jq .a", "gh pr list -R a/b", "gh pr list --repo a/b"),
            "gh search repos graphql",
        ],
        [
            *("gh pr list -q env.A", "gh pr list --jq '$ENV'", "gh pr view https://b.example/a/b/pull/1"),
            *(f"gh pr list {option} b.example/a/b" for option in ("-R", "--repo")),
        ],
    ),
    "gh api": (["gh api repos/a/b", "gh api -i"], ["gh api graphql", "gh api /graphql/"]),
    "command": (["command -v ls"], ["command ls"]),
    "openssl": (
        ["openssl version", "openssl version -a"],
        ["openssl", "openssl rand -out x 8", "openssl version -engine x"],
    ),
    "make": (["make", "make test", "make a b"], ["make CC=x", "make a CC=x"]),
    "make test": (["make test", "make -j 8 test"], ["make test 8", "make -j4 test 8"]),
    "mvn": ([f"mvn {goal}" for goal in _GOALS.split()], ["mvn deploy", "mvn test deploy"]),
    "gradle": (
        [
            *("gradle test --tests 'a.B*'", "gradle test --console 'a b'"),
            *(f"gradle test {option} :a:lint" for option in ("-x", "--exclude-task")),
        ],
        [
            *("gradle test --tests 'a b'", "gradle test --tests ../x", "gradle deploy"),
            *(f"gradle test {option} 'a b'" for option in ("-x", "--exclude-task")),
        ],
    ),
    "pnpm config": (
        ["pnpm config get registry", "pnpm config get @a:registry"],
        [f"pnpm config {one}" for one in ("get", "get ''", "get .", "get registry ''", "get authx", "list", "ls")],
    ),
    "npm view": (["npm view a versions"], ["npm view a https://b", "npm view https://b a"]),
    "go list": (
        ["go list ./...", "go list -m all"],
        ["go list -m -versions a", "go list -m -versions", "go list -m a@latest", "go list -m a b@v1"],
    ),
    "go run": (
        ["go run .", "go run ./cmd/a", "go run a.go b.go"],
        ["go run -v", "go run ../x", "go run . ./x", "go run . x", "go run a.go 'b c.go'"],
    ),
    "docker build": (["docker build -q", "docker build -q a"], ["docker build https://x", "docker build x.y/z"]),
    "npm config get": (
        ["npm config get registry"],
        [f"npm config get {one}" for one in ("_x", "authx", "my-TOKEN", "password", "//x/:y", "registry //x/:y")],
    ),
    "helm show values": (["helm show values a"], [f"helm show values {one}" for one in ("a:b", "'a|b'", "a@b")]),
    "helm lint": (["helm lint a b", "helm lint a.pdf"], ["helm lint a:b", "helm lint a b:c"]),
    "terraform": (["terraform fmt -check"], ["terraform fmt", "terraform fmt -diff"]),
    "terraform fmt": (
        ["terraform fmt", "terraform fmt -check", "terraform fmt -check *.tf"],
        ["terraform fmt -x", "terraform fmt *.tf"],
    ),
    "sqlite3": (
        [
            *("sqlite3 a.db 'select 1'", "sqlite3 a.db 'select 1; select 2;'", "sqlite3 a.db .tables 'select 1'"),
            *("sqlite3 a.db ' .tables '", "sqlite3 a.db '.mode a.b'", "sqlite3 a.db 'pragma table_info(x)'"),
            *("sqlite3 -version", "sqlite3 --version", "sqlite3 -help"),
        ],
        [
            *(
                "sqlite3",
                "sqlite3 a.db",
                "sqlite3 -csv a.db",
                "sqlite3 a.db '.shell x'",
                "sqlite3 a.db '.tables;.quit'",
            ),
            *("sqlite3 a.db 'select 1; drop table x'", "sqlite3 a.db 'select 1; x'", "sqlite3 a.db 'select 1' .quit"),
            *("sqlite3 a.db 'select writefile(1,2)'", "sqlite3 a.db .quit 'select 1'", "sqlite3 a.db 'tables'"),
        ],
    ),
    "ldd": (["ldd /bin/ls", "ldd /usr/bin/ls"], ["ldd ./x", "ldd /bin/../x", "ldd /bin/ls ./x"]),
    "aws": (
        [
            *("aws --version", "aws version", "aws help", "aws s3 ls", "aws s3 ls s3://b", "aws iam get-user"),
            *("aws configure list", "aws configure list-profiles", "aws s3 help"),
            *("aws logs tail", "aws logs tail g"),
            *(
                "aws sts get-caller-identity",
                "aws ec2 describe-instances --region x",
                "aws ec2 list-x --region=b --output d",
            ),
        ],
        [
            *("aws", "aws ec2 run-instances", "aws describe-x", "aws iam list-access-keys", "aws kms list-x"),
            *("aws sts get-session-token", "aws sts get-caller-identity token"),
            *("aws s3 ls https://b", "aws ec2 describe-x --a https://b", "aws ec2 describe-x --endpoint-url x"),
            *("aws s3 cp ls s3://b/x", "aws s3 rm ls", "aws ec2 terminate-instances list"),
            *("aws ec2 describe-x -x", "aws ec2 describe-x --region x --debug", "aws ec2 --region describe-x"),
            *(f"aws ec2 describe-x {option} x" for option in _SHORTENED.split()),
        ],
    ),
    "gcloud": (
        [
            *(
                "gcloud run services list",
                "gcloud compute instances list",
                "gcloud compute disks list-b",
            ),
            *(f"gcloud compute instances {verb} x" for verb in ("describe", "show", "list")),
        ],
        [
            *("gcloud compute instances search x", "gcloud compute a list-b x", "gcloud compute instances delete x"),
            *("gcloud", "gcloud list", "gcloud describe x", "gcloud compute", "gcloud compute instances"),
            *("gcloud compute instances delete list", "gcloud compute instances delete x list", "gcloud a add-b list"),
        ],
    ),
    "az": (["az vm list", "az vm show -n x"], ["az", "az vm", "az show", "az vm show x", "az vm delete"]),
    "git log": (
        ["git log", "git log --format=%H", "git log --pretty=%H", "git log --grep=%G"],
        ["git log --format=%G?", "git log --pretty=%G?", "git log --format=%G? --format=%H", "git log -3 --format=%G?"],
    ),
    "npm test": (
        [
            *("npm test", "npm test a/b.js", *(f"npm test -- {option}" for option in _PASSED_ON.split())),
            *(f"npm test -- {option} 'a b'" for option in ("-t", "--testNamePattern", "-g", "--grep")),
        ],
        [
            "npm test -- --config=x",
            "npm test -- ../x",
            "npm test -- a[bc]",
            "npm test -- 'a b'",
            "npm test -- -t '$(a)'",
        ],
    ),
    "npm run build": (
        ["npm run build", "npm run build a"],
        ["npm run other", "npm run-script other", "npm run", "npm build"],
    ),
    "npm run-script build": (["npm run-script build"], ["npm run-script other"]),
    "npm run": (
        ["npm run", "npm run build", "npm run test:unit", "npm rum build"],
        ["npm run deploy", "npm run db:drop", "npm run x\ny", "npm rum deploy", "npm urn -- publish"],
    ),
    "npm install": (["npm i --offline", "npm isntall"], ["npm i --prefix=x"]),
    "npm run-script": (["npm run-script", "npm run-script build"], ["npm run-script publish"]),
    "go env": (["go env", "go env GOPATH"], ["go env A=b", "go env GOPATH A=b"]),
    "pytest": (
        ["pytest", "pytest a", "pytest --cov-report=term", "pytest -k a:b", "pytest -W ignore", "pytest -k 'A.B'"],
        ["pytest @x", "pytest a @x", "pytest +x", "pytest -q --cov-report=html:x", "pytest -q -W error::a.b"],
    ),
    "py.test": (["py.test -p no:cacheprovider"], ["py.test -p x", "py.test -W error::a.b", "py.test -p no:a -p x"]),
    "readelf": (["readelf -W a"], ["readelf -W @x"]),
    "ruff": (["ruff format --check a", "ruff format --diff a"], ["ruff format a"]),
    "ruff format": (["ruff format a"], ["ruff format --config=x a"]),
    "rg": (["rg x"], ["rg -L x", "rg --follow x"]),
    "mypy": (["mypy -p a.b"], ["mypy @x"]),
    "tsc": (
        [
            *("tsc", "tsc a.ts", "tsc false", "tsc --noEmit", "tsc --noEmit a.ts"),
            *(f"tsc -p a {one}" for one in ("--noEmit", "--showConfig", "--listFilesOnly")),
        ],
        ["tsc -p a", "tsc --project a", "tsc --noEmit false", "tsc --noEmit true", "tsc --noEmit a false", "tsc @x"],
    ),
    "bat": (["bat a", "bat --paging=never a", "bat --paging auto a"], ["bat --paging=always a", "bat --paging x a"]),
    "eslint": (["eslint a", "eslint -f unix a"], ["eslint -f ./x.js a", "eslint --format=./x.js a"]),
    "pylint": (["pylint --output-format=text a"], ["pylint --output-format=a.b a"]),
    "mocha": (["mocha -R spec a"], ["mocha -R ./x a"]),
    "vitest": (["vitest --reporter dot"], ["vitest --reporter ./x"]),
    "man": (["man ls", "man -w"], ["man ./x", "man ls ./x"]),
    "getent": (["getent", "getent passwd root", "getent passwd shadow"], ["getent shadow", "getent gshadow root"]),
    "ip": (
        [
            *("ip", "ip addr", *(f"ip {one}" for one in _IP_OBJECTS.split())),
            *(f"ip addr {shows}" for shows in ("show", "sh", "list", "ls", "lst", "get")),
        ],
        ["ip netns", "ip link set eth0 down", "ip netns show"],
    ),
    "kubectl get": (
        ["kubectl get pods", "kubectl get pods -o wide", "kubectl get pod/a"],
        [
            *("kubectl get secret", "kubectl get secrets", "kubectl get Secret"),
            *("kubectl get secrets.v1", "kubectl get secret/a", "kubectl get pods,secrets", "kubectl get pods secret"),
            *("kubectl get pods -o go-template-file=x", "kubectl get pods --output=jsonpath-file=x"),
        ],
    ),
    "grep": (
        ["grep x f", "grep -m 5 x f", "grep -d read x f", "grep -d skip x f", "grep --directories=skip x f"],
        ["grep -d recurse x f", "grep -i -d recurse x f", "grep --directories=recurse x f"],
    ),
    "ps": (
        [
            *("ps", "ps aux", "ps -ef", "ps -e -o pid,cmd", "ps -p 1", "ps -up 12", "ps -u", "ps -u root"),
            *(f"ps {one} x:1" for one in _PS_OPTIONS.split()),
            *(f"ps {one} pid,cmd" for one in _PS_COLUMNS.split()),
            *("ps -fp x:1", "ps -fu root", "ps -fC bash", "ps -t pts/0"),
        ],
        [
            *("ps e", "ps axe", "ps -o environ", "ps -o pid environ", "ps x:1", "ps *", "ps -u $USER"),
            *("ps -e -u root", "ps -u root -e", "ps -A -e -u root"),
        ],
    ),
    "dpkg": (["dpkg -l", "dpkg -L a"], ["dpkg a"]),
    "git branch": (
        [
            *("git branch", "git branch -a", "git branch -l x", "git branch --list x", "git branch --points-at HEAD x"),
            *(f"git branch --{one} x" for one in ("contains", "no-contains", "merged", "no-merged")),
        ],
        [
            "git branch -M x",
            "git branch -f x",
            "git branch -u ../x",
            "git branch --edit-description",
            "git branch 'x y'",
            "git branch -x",
        ],
    ),
    "git config": (
        ["git config user.name", "git config --get user.name", "git config get user.name", "git config -l"],
        [
            *("git config core.pager x", "git config alias.x '!x'", "git config --global user.name x"),
            *("git config core.hooksPath x", "git config --get user.name --unset", "git config user.name -- x y"),
            *(f"git config {one}" for one in ("set", "unset", "edit", "rename-section", "remove-section")),
        ],
    ),
    "git diff": (
        ["git diff", "git diff a", "git diff /w/a", "git diff a b", "git diff a.. b"],
        ["git diff a* b", "git diff a b*", "git diff a ../b", "git diff ~ a", "git diff --no-index a b"],
    ),
    "git reflog": (
        ["git reflog", "git reflog show"],
        [f"git reflog {one} HEAD@{{1}}" for one in ("expire", "delete", "drop", "write")],
    ),
    "git checkout": (
        ["git checkout main", "git checkout -b x", "git checkout"],
        ["git checkout .", "git checkout -- a", "git checkout main --"],
    ),
    "git fetch": (["git fetch", "git fetch origin main"], ["git fetch https://x", "git fetch ../x"]),
    "git push": (["git push origin main"], ["git push origin +main", "git push origin :main", "git push origin a +b"]),
    "curl": (["curl --version"], ["curl", "curl x"]),
}


@pytest.mark.spec("C7")
@pytest.mark.parametrize("rule", ROWS)
def test_a_rule_lets_through_what_its_program_does_without_harm(rule: str) -> None:
    assert [command for command in ROWS[rule][0] if _decision(command, rule) != "allow"] == []


@pytest.mark.spec("C8")
@pytest.mark.parametrize("rule", ROWS)
def test_a_rule_does_not_let_through_what_its_program_could_do_besides(rule: str) -> None:
    assert [command for command in ROWS[rule][1] if _decision(command, rule) != "ask"] == []


def _decision(command: str, rule: str) -> str:
    return judge(command, rules([rule]), cwd="/w", roots=["/w"]).decision


@pytest.mark.parametrize(
    "options", ["--stat", "--shortstat HEAD", "--numstat -- src", "--dirstat", "--compact-summary"]
)
def test_counting_changes_leaves_secrets_out_because_git_would_open_them(options: str) -> None:
    plan = judge(f"git diff {options}", rules(allow=["git diff"]), cwd="/w", roots=["/w"]).plan
    assert plan is not None
    assert all(stage.hides for stage in simple_commands(plan.steps))
