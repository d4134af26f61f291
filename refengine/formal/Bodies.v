(** Bodies in place of SPARQL (§7), for comparing.  Predicate 1 is the one that [objects] asks for. *)
From Coq Require Import ZArith List.
From RefEngine Require Import Definitions.
Import ListNotations.
Open Scope Z_scope.

(** SELECT ?o { ?s <p> ?o } *)
Definition objects (d : list Quad) : Bag :=
  flat_map (fun q => let '((_, p, o), g) := q in if (p =? 1) && (g =? 0) then [[o]] else [])%bool d.
(** SELECT (COUNT( * ) AS ?n) { … } over all quads *)
Definition count_all (d : list Quad) : Bag := [[Z.of_nat (length d)]].
(** SELECT ?g ?o { GRAPH ?g { ?s ?p ?o } } *)
Definition graphs (d : list Quad) : Bag :=
  flat_map (fun q => let '((_, _, o), g) := q in if (g =? 0) then [] else [[g; o]]) d.
