"""The figures of the paper, drawn anew from data of ours, each with a verdict on its claims.

`catalogue.FIGURES` leads from a number to the function that draws it; `gallery.draw_gallery` writes
all of them with a page. Needs matplotlib: `pip install temporal-gaussian-mixture[figures]`.
"""
