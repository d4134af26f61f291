// The query's text in CodeMirror, coloured as SPARQL.
import { EditorView, minimalSetup } from "codemirror";
import { lineNumbers, placeholder } from "@codemirror/view";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { sparql } from "codemirror-lang-sparql";
import { tags } from "@lezer/highlight";

// Colours of the page's own style sheet, which has enough contrast in light and in dark.
const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.literal, tags.number, tags.bool], color: "var(--literal)" },
  { tag: [tags.variableName, tags.typeName], color: "var(--variable)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
]);

export function makeEditor(parent, text, onChange) {
  const view = new EditorView({
    parent,
    doc: text,
    extensions: [
      minimalSetup,
      lineNumbers(),
      placeholder("a query"),
      sparql(),
      syntaxHighlighting(colours),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "query", "aria-multiline": "true" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    set text(value) {
      if (value === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
    },
  };
}
