"""The open web: which addresses may be asked, and the only code that asks them.

`urls`, `hosts`, `addresses` and `url_text` judge and open nothing; `dial` and `fetch` connect, only to what was judged.
This room knows no tool, no policy and no session.
"""
