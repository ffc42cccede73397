"""How answers look in a notebook: text of one screen, a card of HTML, plain documents, frames."""
