"""Share a collection with named people, and take it back."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.ui import session
from propcite.ui.markdown import plain

MAY = {
    Scope.READ: "may read, ask and give feedback",
    Scope.WRITE: "may also add, change and remove documents",
    Scope.ADMIN: "may also share and delete the collection",
}


def show(collection: CollectionInfo) -> None:
    """Show who has a role in the collection, where people have to sign in."""
    if session.parts().settings.page_sign_in == "none":
        return
    roles = session.parts().people.roles(collection)
    title = f"Shared with {'1 person' if len(roles) == 1 else f'{len(roles):,} people'}"
    with st.expander(title, icon=":material/group:", key="sharing"):
        if collection.owner:
            st.markdown(f"**{plain(collection.owner)}** owns it, and may do everything.")
        for role in roles:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{plain(role.person)}** {MAY[role.scope]}", width="content")
                taken = (collection, role.person)
                st.button("Take away", key=f"unshare-{role.person}", type="tertiary", on_click=_take_away, args=taken)
        with st.form("share", clear_on_submit=True, border=False):
            person = st.text_input("Name or e-mail address, as the sign-in tells it", key="share-with")
            scope = st.selectbox("What they may do", list(Scope), key="share-scope", format_func=MAY.__getitem__)
            pressed = st.form_submit_button("Share", key="share-now", icon=":material/person_add:")
        if pressed:
            with session.showing_errors():
                _share(collection, person, scope or Scope.READ)
                st.rerun()


def _share(collection: CollectionInfo, person: str, scope: Scope) -> None:
    asking = session.visitor()
    asking.require(Scope.ADMIN, collection.name)
    role = session.parts().people.grant(person, scope, collection)
    asking.record(Action.SHARED, collection.name, f"{role.person}: {scope}")


def _take_away(collection: CollectionInfo, person: str) -> None:
    with session.showing_errors():
        asking = session.visitor()
        asking.require(Scope.ADMIN, collection.name)
        session.parts().people.revoke(person, collection)
        asking.record(Action.UNSHARED, collection.name, person)
