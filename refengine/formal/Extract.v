(** The program: the definitions, and the arithmetic by which the driver reads and writes numbers.  No
    number becomes a machine integer: [Z] stays the binary integers that the theorems are about. *)
From Coq Require Import ZArith ExtrOcamlBasic.
From RefEngine Require Import Definitions Bodies Firings.
Extraction Language OCaml.
Extraction "definitions.ml" Firings.evaluate_with Bodies.objects Bodies.count_all Bodies.graphs
  BinInt.Z.add BinInt.Z.mul BinInt.Z.opp BinInt.Z.div_eucl BinInt.Z.ltb BinInt.Z.of_nat.
