"""A rule by path in yolo: what nobody can tell needs approval, and plainly unrelated commands run."""

from pathlib import Path

import pytest

from assent.approval import ExecDetails
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.policy.rules import Rule

RULES = (Rule(ruling="deny", path="secrets/**"), Rule(ruling="deny", path="guarded.txt"))

HIDDEN = r"""
f=guarded; cat $f.txt
set -- gua rded; cat $1$2.txt
x() { cat gua$1; }; x rded.txt
while read f; do cat "$f"; done < list
mapfile -t a < list; cat "${a[@]}"
cat {guar,}ded.txt
cat "gua"'rded'.txt
cat $'gua\x72ded.txt'
cat ~+/guarded.txt
cat src/../guarded.txt
cat /proc/self/cwd/guarded.txt
cat /proc/$$/cwd/guarded.txt
cat /dev/fd/../cwd/guarded.txt
cat <(cat guarded.txt)
f=guarded; cat < $f.txt
f=guarded; while read l; do echo "$l"; done < "$f.txt"
f=gua; echo "$(<${f}rded.txt)"
f=guarded; echo x > $f.txt
bash -c 'f=guarded; echo x > $f.txt'
git config alias.x '!cat gua*'
git x
git add -p
git status -v
cat `echo guarded`.txt
cd secrets && cat k
pushd secrets; cat k
env -C secrets cat k
bash -c 'cat gua*'
bash -c 'cat gua\rded.txt'
bash -c 'cat gua""rded.txt'
bash -c 'cat {guarded,x}.txt'
bash -c 'cd secrets; cat *'
sh -c "cat gua[r]ded.txt"
eval 'cat gua?ded.txt'
timeout 5 bash -c 'cat gua*'
bash <<< 'cat gua*'
printf 'cat gua%s' rded.txt | sh
echo Y2F0IGd1YXJkZWQudHh0 | base64 -d | sh
printf 'gua%s' rded.txt | xargs cat
xargs -a list cat
tar -T list -cf -
wc --files0-from=list
echo 'cat gua*' > z.sh; sh z.sh
alias c='cat gua*'; c
trap 'cat gua*' EXIT
at now <<< 'cat gua*'
python3 -c 'print(open("gua"+"rded.txt").read())'
python3 - <<< 'print(open("gua"+"rded.txt").read())'
echo 'print(open("gua"+"rded.txt").read())' | python3
perl -pe '' gua*
ruby -r json -e 'puts File.read("gua"+"rded.txt")'
perl -I lib -e 'open F, "gua"."rded.txt"; print <F>'
python3 -W ignore -c 'print(open("gua"+"rded.txt").read())'
perl -e 'print `cat g[u]arded.txt`'
ruby -e 'puts File.read("gua"+"rded.txt")'
node -p 'require("fs").readFileSync("gua"+"rded.txt","utf8")'
php -r 'readfile("gua"."rded.txt");'
lua -e 'print(io.open("gua".."rded.txt"):read())'
awk 'BEGIN{while((getline l < ("gua" "rded.txt"))>0) print l}'
sed -n 'r gua*' x
make -f - <<< 'x: ; cat gua*'
make --eval='x: ; cat gua*' x
make X='$(shell cat gua*)' test
git -c alias.x='!cat gua*' x
git worktree add ../x
git submodule foreach 'cat ../gua*'
sqlite3 :memory: "select readfile('gua'||'rded.txt')"
curl "file://$PWD/gua%72ded.txt"
curl -s "file://$PWD/secrets/k"
python3 -m http.server >/dev/null 2>&1 & curl -s http://127.0.0.1:8000/secrets/k
grep -r x > out; cat out
timeout 5 rg x
git diff > out
ed -s <<< 'r gua*'
gcc -E -x c - <<< '#include "guarded.txt"'
docker run -v .:/x alpine cat /x/guarded.txt
python3 -m http.server
"""

UNRELATED = """
python3 tool.py -c fast
git log -3 --stat
cat < package.json
echo "$HOME" > out.txt
npm test > "$HOME/log.txt" 2>&1
npm test
npm run build -- --watch
npm test 2>&1 | tail -20
ls src
cat src/a.py
cat package.json | head
git status
git log --oneline -5
git diff -- src
git add src
git commit -m 'fix: it (all) of $x'
git push origin main
python3 -c 'print(1)'
python3 src/a.py
python3 -m pytest src
pytest -q src -k 'a and b'
make -j4 test
bash -c 'ls src'
bash scripts/ci.sh
./gradlew build
for f in src/a.py package.json; do wc -l $f; done
if [ -f package.json ]; then npm ci; fi
sed -i 's/a/b/' src/a.py
awk '{print $1}' src/a.py
jq .version package.json
grep -rn foo src
find src -name '*.py'
mkdir -p build && cp src/a.py build/
rm -rf build
echo hi > out.txt
echo "$HOME"
sleep 1; echo $?
export CI=1; npm test
cd src && npm test
curl -s http://localhost:3000/x
docker build -t x src
timeout 60 npm test
"""


def verdict(root: Path, command: str, *more: Rule) -> str:
    details = ExecDetails(command=command, roots=(), directory=str(root), risk="high", risk_reason="")
    action = Action(tool="run_shell_command", args={}, details=details, main=command, paths=(f"{root}/",))
    return Policy((*RULES, *more), "default" if more else "yolo", roots=(str(root),)).judge(action).ruling


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("guarded.txt", "secrets/k", "src/a.py", "package.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", HIDDEN.strip().splitlines())
def test_a_command_whose_names_cannot_be_told_does_not_escape_a_rule_by_path(folder: Path, command: str) -> None:
    assert verdict(folder, command) in ("ask", "deny")
    assert verdict(folder, command, Rule(ruling="allow", tool="run_shell_command")) in ("ask", "deny")


@pytest.mark.parametrize("command", UNRELATED.strip().splitlines())
def test_a_rule_by_path_does_not_stop_what_is_plainly_unrelated(folder: Path, command: str) -> None:
    assert verdict(folder, command) == "allow"
