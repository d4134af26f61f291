(** What a continuous query means: SPEC.md §1 to §6, §8, §9, and R2R-22.

    Definitions only.  This file is what a reader holds against SPEC.md, what the theorems are about,
    and what is extracted to a program.  Each definition names its rule.  Terms are numbers, and what a
    body answers over a dataset (§7) is a parameter. *)
From Coq Require Import ZArith List Bool.
Import ListNotations.
Open Scope Z_scope.

(** * §1 Model *)

Definition Triple := (Z * Z * Z)%type.
(** MOD-1, MOD-3: an element is valid from [app] to [until].  [sys] increases from element to element,
    so it names the element.  [graph] has its triples in the order of their texts. *)
Record Element := { stream : Z; app : Z; until : Z; sys : Z; batch : Z; graph : list Triple }.

(** Sorting that keeps the order of ties. *)
Section Sort.
  Context {A : Type} (before : A -> A -> bool). (* whether the second must come before the first *)
  Fixpoint insert (e : A) (es : list A) : list A :=
    match es with
    | [] => [e]
    | x :: rest => if before e x then x :: insert e rest else e :: es
    end.
  Definition sort : list A -> list A := fold_right insert [].
End Sort.

(** MOD-2: lateness.  [None] is [reject]: a stream that is out of order has no meaning then. *)
Definition is_late (lateness : option Z) (e : Element) (earlier : list Element) : bool :=
  match lateness with None => false | Some d => existsb (fun x => d <? app x - app e) earlier end.
Fixpoint split_late (lateness : option Z) (earlier es : list Element) : list Element * list Element :=
  match es with
  | [] => ([], [])
  | e :: rest => let (in_time, late) := split_late lateness (earlier ++ [e]) rest in
                 if is_late lateness e earlier then (in_time, e :: late) else (e :: in_time, late)
  end.
Definition admitted (lateness : option Z) (es : list Element) : list Element :=
  sort (fun a b => app b <? app a) (fst (split_late lateness [] es)).
Definition dropped (lateness : option Z) (es : list Element) : list Element :=
  snd (split_late lateness [] es).

(** * §3 Query, §2 Semantics *)

Inductive Kind := Time | Tuple | Range | Now | Unbounded | Landmark | Rows | Partition | Session.
Inductive Unit_ := PerElement | PerTriple.
Inductive KeyPart := Subject | Predicate | Object | ObjectOf (p : Z).
Record Window := { on : Z; kind : Kind; size : Z; stated : option Z; unit : Unit_; by_ : list KeyPart;
                   name : Z (* 0: none *); triggers : bool; lag : Z }.

Inductive Closure := RightOpen | LeftOpen | Closed.
Inductive Partial := Suppressed | Reported | Clipped.
Inductive T0 := At (t : Z) | FirstElement | FirstReach | Registration | Epoch (offset : Z)
  | Coral8 | OracleCep | Stream | Flink | Storm | KafkaStreams.
Inductive Slide := Stated | Ignored.
Inductive Anchor := AnchorAt (t : Z) | AnchorT0 | AnchorFirst.
Inductive CloseRule := Reached | Passed.
Inductive Baseline := LastReport | PreviousInstant.
Inductive ChangeScope := ByElements | ByGraph.
Inductive ExpirySeen := Replayed | Eager.
Inductive Missed := All | Latest.
Inductive Tick := TupleTick | TimeTick | BatchTick.
Inductive Trigger := AnyOf | AllOf | Leading | Explicit.
Inductive Collection := AsBag | AsSet.
Inductive Consumption := Unrestricted | Recent | Chronological.
Inductive R2S := Rstream | Istream | Dstream | Append.
Inductive Base := Previous | PreviousNew.
Inductive Empty := Emit | Suppress | Once.
Inductive Horizon := NoHorizon | Flush | HorizonAt (t : Z).
Inductive Instant := AtClose | AtEvaluation | AtTrigger | AtEager.

Record Semantics := {
  t0 : T0; closure : Closure; slide_choice : Slide; partial : Partial;
  window_close : bool; content_change : bool; non_empty : bool; periodic : option (Z * Anchor);
  close_rule : CloseRule; baseline : Baseline; change_scope : ChangeScope; expiry_seen : ExpirySeen;
  missed : Missed; tick : Tick; trigger : Trigger; collection : Collection;
  consumption : Consumption; r2s : R2S; base : Base;
  empty : Empty; horizon : Horizon; instant : Instant; lateness : option Z }.

(** * §4 Windows *)

Definition bordered (k : Kind) : bool :=
  match k with Time | Tuple | Range | Landmark | Session => true | _ => false end.
(** WIN-10: ω for the kinds whose windows have both borders. *)
Definition span (w : Window) : Z :=
  match kind w with Time | Tuple | Range => size w | _ => 0 end.
(** WIN-1, WIN-17 *)
Definition slide (s : Semantics) (w : Window) : Z :=
  match stated w, slide_choice s, kind w with
  | None, _, _ => 1
  | _, Ignored, (Time | Range) => 1
  | Some β, _, _ => β
  end.
(** WIN-2: what the closure adds to o and to c. *)
Definition low (s : Semantics) (w : Window) : Z :=
  match closure s with LeftOpen => if bordered (kind w) then 1 else 0 | _ => 0 end.
Definition high (s : Semantics) (w : Window) : Z :=
  match closure s with RightOpen => if bordered (kind w) then -1 else 0 | _ => 0 end.

(** WIN-6, WIN-16: ids count elements, or triples. *)
Definition weight (w : Window) (e : Element) : Z :=
  match unit w with PerElement => 1 | PerTriple => Z.of_nat (length (graph e)) end.
Definition ids_from (w : Window) : Z -> list Element -> list (Z * Z) := (* (sys, id) *)
  fix from n es := match es with
                   | [] => []
                   | e :: rest => (sys e, n + weight w e) :: from (n + weight w e) rest
                   end.
Definition lookup (ids : list (Z * Z)) (x : Z) : Z :=
  match find (fun p => fst p =? x) ids with Some p => snd p | None => 0 end.

(** A window of a query over its stream: where window 0 opens (WIN-3), the ids, and t1. *)
Record Placed := { win : Window; origin : option Z; ids : list (Z * Z); t1 : option Z }.

(** WIN-7, WIN-10 *)
Definition ceil_div (a b : Z) : Z := - (- a / b).
Definition origin_of (s : Semantics) (registered : option Z) (w : Window) (t1 : option Z) : option Z :=
  let ω := span w in let β := slide s w in
  let is_tuple := match kind w with Tuple => true | _ => false end in
  let from_t1 f := option_map f t1 in
  match t0 s with
  | At t => Some t
  | Registration => registered
  | FirstElement => t1
  | FirstReach => from_t1 (fun t => t - ω)
  | Epoch offset => from_t1 (fun t =>
      if ω =? 0 then t else offset + ceil_div (t - (offset + ω + high s w)) β * β)
  | Coral8 => if is_tuple then Some 0 else from_t1 (fun t => ceil_div (t - ω) β * β - 1)
  | OracleCep => if is_tuple then Some (β - ω) else from_t1 (fun t => ceil_div t β * β - ω)
  | Stream => if is_tuple then Some (- ω) else from_t1 (fun t => t - ω)
  | Flink => Some (if is_tuple then β - ω else β - ω - 1)
  | Storm => Some (β - ω)
  | KafkaStreams => if is_tuple then None else from_t1 (fun t => Z.max 0 (t - ω + β) / β * β - 1)
  end.

(** WIN-6, WIN-18: the first and the last instant of an element. *)
Definition begins (p : Placed) (e : Element) : Z :=
  match kind (win p) with Tuple => lookup (ids p) (sys e) | _ => app e end.
Definition ends (p : Placed) (e : Element) : Z :=
  match kind (win p) with Tuple => lookup (ids p) (sys e) | _ => until e end.

(** WIN-11 *)
Definition least (s : Semantics) (w : Window) : Z :=
  match partial s with Suppressed => 0 | _ => - Z.max 0 ((span w - 1) / slide s w) end.

Section OfWindow.
  Variables (s : Semantics) (p : Placed) (o : Z). (* o: where window 0 opens *)
  Let w := win p.
  (** WIN-3 *)
  Definition first_instant (n : Z) : Z := o + n * slide s w + low s w.
  Definition last_instant (n : Z) : Z := o + n * slide s w + span w + high s w.
  Definition s0_at : Z := first_instant 0 - 1. (* WIN-5 *)
  (** WIN-4, WIN-12, WIN-13: the window looked at, at t; [Some 0] for kinds without numbers. *)
  Definition current_at (t : Z) : option Z :=
    if t <? s0_at then None else
    match kind w with
    | Time | Tuple => Some (Z.max (least s w) (ceil_div (t - last_instant 0) (slide s w)))
    | Range | Now => let n := (t - last_instant 0) / slide s w in
                     if n <? least s w then None else Some n
    | _ => Some 0
    end.
  (** WIN-11: a clipped window begins with window 0. *)
  Definition clipped_first (n : Z) : Z :=
    match partial s with Clipped => Z.max (first_instant n) (first_instant 0) | _ => first_instant n end.
  (** WIN-5, WIN-12, WIN-13, WIN-18, WIN-20: an element has an instant in the scope at t. *)
  Definition meets (n t : Z) (e : Element) : bool :=
    let from := clipped_first n - lag w in
    let to := t - lag w in
    match kind w with
    | Time | Tuple | Landmark => (begins p e <=? to) && (from <=? ends p e) && (from <=? to)
    | Range | Now => (begins p e <=? last_instant n - lag w) && (from <=? ends p e)
    | _ => begins p e <=? to
    end.
End OfWindow.

Definition s0 (s : Semantics) (p : Placed) : option Z := option_map (s0_at s p) (origin p).
Definition current (s : Semantics) (p : Placed) (t : Z) : option Z :=
  match origin p with None => None | Some o => current_at s p o t end.
Definition borders (s : Semantics) (p : Placed) (t : Z) : option (Z * Z) :=
  match origin p, current s p t, kind (win p) with
  | Some o, Some n, (Time | Tuple | Range) =>
      let opens := o + n * slide s (win p) - lag (win p) in Some (opens, opens + size (win p))
  | _, _, _ => None
  end.

Definition Content := list Element.
(** WIN-14 *)
Definition latest_rows (s : Semantics) (p : Placed) (before : list Element) : Content :=
  let id e := lookup (ids p) (sys e) in
  let newest := fold_left Z.max (map id before) 0 in
  let last := newest / slide s (win p) * slide s (win p) in
  filter (fun e => (last - size (win p) <? id e) && (id e <=? last)) before.
(** WIN-15 *)
Definition key (w : Window) (e : Element) : list Z :=
  flat_map (fun part => flat_map (fun x => let '(a, b, c) := x in
    match part with
    | Subject => [a] | Predicate => [b] | Object => [c]
    | ObjectOf q => if b =? q then [c] else []
    end) (graph e)) (by_ w).
Definition same_key (w : Window) (a b : Element) : bool :=
  if list_eq_dec Z.eq_dec (key w a) (key w b) then true else false.
Definition latest_of_keys (w : Window) : list Element -> Content :=
  fix latest es := match es with
                   | [] => []
                   | e :: rest => if Z.of_nat (length (filter (same_key w e) rest)) <? size w
                                  then e :: latest rest else latest rest
                   end.
(** WIN-8, ENG-5 *)
Definition content (s : Semantics) (p : Placed) (t : Z) (before : list Element) : Content :=
  let mine := filter (fun e => stream e =? on (win p)) before in
  match origin p, current s p t with
  | Some o, Some n =>
      match kind (win p) with
      | Rows => latest_rows s p mine
      | Partition => latest_of_keys (win p) mine
      | _ => filter (meets s p o n t) mine
      end
  | _, _ => []
  end.

(** * §5 Tick *)

(** The sentinel (ENG-1) has no element. *)
Record Arrival := { at_ : Z; a_sys : Z; a_batch : Z; element : option Element }.
Definition first_is_tuple (ps : list Placed) : bool :=
  match ps with p :: _ => match kind (win p) with Tuple => true | _ => false end | [] => false end.
(** WIN-6, TICK-6 *)
Definition own (s : Semantics) (ps : list Placed) (a : Arrival) : Z :=
  match ps with
  | [] => at_ a
  | p :: _ =>
      match kind (win p), element a with
      | Tuple, Some e => lookup (ids p) (sys e)
      | Tuple, None => fold_left Z.max (map snd (ids p)) 0 + 1
      | _, _ => match close_rule s, closure s with Passed, RightOpen => at_ a - 1 | _, _ => at_ a end
      end
  end.
Record Looked := { looked_app : Z; looked_batch : Z; looked_own : Z }.
(** TICK-1 to TICK-3 *)
Definition is_due (s : Semantics) (l : Looked) (a : Arrival) : bool :=
  match tick s with
  | TupleTick => true
  | TimeTick => looked_app l <? at_ a
  | BatchTick => looked_batch l <? a_batch a
  end.
Definition upto (a b : Z) : list Z := map (fun i => a + Z.of_nat i) (seq 0 (Z.to_nat (b - a))).
Definition same_number (a b : option Z) : bool :=
  match a, b with Some x, Some y => x =? y | None, None => true | _, _ => false end.
(** TICK-7 *)
Definition moves (s : Semantics) (ps : list Placed) (t : Z) : bool :=
  existsb (fun p => match kind (win p), current s p (t - 1) with
                    | Tuple, _ | _, None => false
                    | _, Some n => negb (same_number (Some n) (current s p t))
                    end) ps.
(** TICK-4; WIN-5, ENG-5: not before the least s0. *)
Definition interval (s : Semantics) (ps : list Placed) (start since now : Z) : list Z :=
  let early := match expiry_seen s with Replayed => false | Eager => (since <? now) && moves s ps now end in
  filter (fun t => start <=? t) (upto since now ++ (if (since =? now) || early then [now] else [])).

(** * §6 Report *)

Definition border (s : Semantics) (t : Z) : Z := match closure s with RightOpen => t + 1 | _ => t end.
(** REP-1: t is the last instant of a window that exists (of one, the number is then known). *)
Definition closes_at (s : Semantics) (p : Placed) (t : Z) : bool :=
  match origin p with
  | None => false
  | Some o => let n := (t - last_instant s p o 0) / slide s (win p) in
              (least s (win p) <=? n) && (last_instant s p o n =? t)
  end.
(** REP-4, REP-11 *)
Definition is_periodic (s : Semantics) (p : Placed) (t : Z) : bool :=
  match periodic s with
  | None => true
  | Some (λ, a) =>
      match (match a with AnchorAt x => Some x | AnchorT0 => origin p | AnchorFirst => t1 p end) with
      | None => false
      | Some x => (border s t - x) mod λ =? 0
      end
  end.
(** REP-2, REP-9 *)
Definition same_list (xs ys : list Z) : bool := if list_eq_dec Z.eq_dec xs ys then true else false.
Definition same_triple (x y : Triple) : bool :=
  let '(a, b, c) := x in let '(a', b', c') := y in (a =? a') && (b =? b') && (c =? c').
Definition subset (xs ys : list Triple) : bool := forallb (fun x => existsb (same_triple x) ys) xs.
Definition differs (s : Semantics) (a b : Content) : bool :=
  match change_scope s with
  | ByElements => negb (same_list (map sys a) (map sys b))
  | ByGraph => let g := flat_map graph a in let h := flat_map graph b in negb (subset g h && subset h g)
  end.
(** REP-8 *)
Record Memory := { reported : list Content; previous : list Content }.
Definition compared_with (s : Semantics) (m : Memory) : list Content :=
  match baseline s with LastReport => reported m | PreviousInstant => previous m end.
Definition has_scope (s : Semantics) (p : Placed) (t : Z) : bool :=
  match current s p t with None => false | Some _ => true end.
(** REP-5 *)
Definition timely (s : Semantics) (own t : Z) (p : Placed) : bool :=
  (negb (window_close s) || (closes_at s p t && (t <? own) && has_scope s p t)) &&
  match periodic s with None => true | Some _ => is_periodic s p t && has_scope s p t end.
(** REP-3, REP-6, ENG-5 *)
Definition worthy (s : Semantics) (t : Z) (before : list Element) (p : Placed) (compared : Content) : bool :=
  let c := content s p t before in
  has_scope s p t && (negb (content_change s) || differs s c compared) &&
  (negb (non_empty s) || negb (match c with [] => true | _ => false end)).
(** REP-12 *)
Definition fires (s : Semantics) (states : list (Window * bool)) : bool :=
  match trigger s with
  | AnyOf => existsb snd states
  | AllOf => forallb snd states
  | Leading => match states with x :: _ => snd x | [] => false end
  | Explicit => existsb (fun x => triggers (fst x) && snd x) states
  end.
Definition contents (s : Semantics) (ps : list Placed) (t : Z) (before : list Element) : list Content :=
  map (fun p => content s p t before) ps.
Record Report := { at_instant : Z; arrival : Z; shown : list (option (Z * Z)); holding : list Content }.
Definition report_at (s : Semantics) (ps : list Placed) (t k : Z) (before : list Element) : Report :=
  {| at_instant := t; arrival := k; shown := map (fun p => borders s p t) ps;
     holding := contents s ps t before |}.

(** REP-6, REP-10, REP-12 *)
Definition visit (s : Semantics) (ps : list Placed) (before : list Element) (own k : Z)
    : list Z -> Memory -> list Report * Memory :=
  fix visit_each ts m := match ts with
  | [] => ([], m)
  | t :: rest =>
      let ok := fires s (map (fun x => (win (fst x),
                  timely s own t (fst x) && worthy s t before (fst x) (snd x)))
                  (combine ps (compared_with s m))) in
      let now := contents s ps t before in
      let counts := match missed s with All => ok | Latest => false end in
      let (rs, m') := visit_each rest
                        {| reported := if counts then now else reported m; previous := now |} in
      (if ok then report_at s ps t k before :: rs else rs, m')
  end.
Definition by_instant s ps before own k ts m : list Report * Memory :=
  let (rs, m') := visit s ps before own k ts m in
  match missed s, rev rs with
  | Latest, r :: _ => ([r], {| reported := holding r; previous := previous m' |})
  | _, _ => (rs, m')
  end.
(** REP-7 *)
Definition by_tick s ps before own k (ts : list Z) (m : Memory) : list Report * Memory :=
  match ps, rev ts with
  | p :: _, final :: earlier =>
      let m1 := match earlier with
                | t :: _ => {| reported := reported m; previous := contents s ps t before |}
                | [] => m end in
      let ok := fires s (map (fun x => (win (fst x), worthy s final before (fst x) (snd x)))
                             (combine ps (compared_with s m1))) in
      let now := contents s ps final before in
      match filter (fun t => timely s own t p) (rev ts) with
      | t :: _ => if ok then ([report_at s ps t k before],
                              {| reported := contents s ps t before; previous := now |})
                  else ([], {| reported := reported m; previous := now |})
      | [] => ([], {| reported := reported m; previous := now |})
      end
  | _, _ => ([], m)
  end.

(** TICK-4, TICK-5 *)
Definition run (s : Semantics) (ps : list Placed) (start : Z)
    : list Element -> Looked -> Memory -> Z -> list Arrival -> list Report :=
  fix run_on before l m k arrivals := match arrivals with
  | [] => []
  | a :: rest =>
      let before' := match element a with Some e => before ++ [e] | None => before end in
      if is_due s l a then
        let step := if first_is_tuple ps then by_tick else by_instant in
        let (rs, m') := step s ps before (own s ps a) k (interval s ps start (looked_own l) (own s ps a)) m in
        rs ++ run_on before'
                {| looked_app := at_ a; looked_batch := a_batch a; looked_own := own s ps a |} m' (k + 1) rest
      else run_on before' l m (k + 1) rest
  end.

(** * §9 Evaluation *)

Definition maximum (xs : list Z) (x : Z) : Z := fold_left Z.max xs x.
(** ENG-1 *)
Definition reach (s : Semantics) (w : Window) : Z :=
  span w + lag w + match kind w with Range => slide s w - 1 | Session => size w | _ => 0 end.
Definition horizon_of (s : Semantics) (ws : list Window) (es : list Element) : option Z :=
  match horizon s, map until es with
  | HorizonAt t, _ => Some t
  | Flush, x :: xs => Some (maximum xs x + maximum (map (reach s) ws) 0 + 2)
  | _, _ => None
  end.
(** ENG-5: by app, then sys, then the order in which the windows name the streams. *)
Fixpoint index_of (x : Z) (xs : list Z) : Z :=
  match xs with [] => 0 | y :: ys => if x =? y then 0 else 1 + index_of x ys end.
Definition comes_after (names : list Z) (a b : Element) : bool :=
  (app b <? app a) || ((app b =? app a) && ((sys b <? sys a) ||
    ((sys b =? sys a) && (index_of (stream b) names <? index_of (stream a) names)))).

(** R2R-22: the triple patterns of a body that is nothing else, and the variables that it selects. *)
Inductive Word := Const (z : Z) | Var (v : Z).
Record Query := { windows : list Window; registered : option Z; operator : option R2S;
                  static : list (Triple * Z); patterns : list (Word * Word * Word);
                  selected : list Z }.
Definition elements_of (q : Query) (all : list Element) (keep : list Element -> list Element) : list Element :=
  flat_map (fun n => keep (filter (fun e => stream e =? n) all)) (nodup Z.eq_dec (map on (windows q))).
Definition arrivals_of (s : Semantics) (q : Query) (all : list Element) : list Arrival :=
  let es := sort (comes_after (map on (windows q))) (elements_of q all (admitted (lateness s))) in
  map (fun e => {| at_ := app e; a_sys := sys e; a_batch := batch e; element := Some e |}) es ++
  match horizon_of s (windows q) es with
  | None => []
  | Some h => [{| at_ := h; a_sys := maximum (map sys all) 0 + 1;
                  a_batch := maximum (map batch es) 0 + 1; element := None |}]
  end.
Definition place (s : Semantics) (q : Query) (all : list Element) (w : Window) : Placed :=
  let mine := admitted (lateness s) (filter (fun e => stream e =? on w) all) in
  let ids := ids_from w 0 mine in
  let t1 := match mine with
            | [] => None
            | e :: _ => Some (match kind w with Tuple => lookup ids (sys e) | _ => app e end) end in
  {| win := w; ids := ids; t1 := t1; origin := origin_of s (registered q) w t1 |}.
Definition starts (s : Semantics) (ps : list Placed) : list Z :=
  flat_map (fun p => match s0 s p with None => [] | Some x => [x] end) ps.
Definition reports (s : Semantics) (q : Query) (all : list Element) : list Report :=
  let ps := map (place s q all) (windows q) in
  match starts s ps with
  | [] => []
  | x :: xs =>
      let start := fold_left Z.min xs x in
      let none := map (fun _ => []) ps in
      run s ps start [] {| looked_app := start; looked_batch := 0; looked_own := start |}
        {| reported := none; previous := none |} 0 (arrivals_of s q all)
  end.

(** * §8 R2S *)

(** A row is a list of terms, one for each selected variable. *)
Definition Row := list Z.
Definition row_eq (a b : Row) : bool := same_list a b.
Definition Bag := list Row.
Fixpoint less_one (r : Row) (b : Bag) : Bag :=
  match b with [] => [] | x :: b' => if row_eq x r then b' else x :: less_one r b' end.
(** R2S-1 to R2S-4, R2S-7, R2S-8 *)
Definition more (a b : Bag) : Bag := fold_left (fun acc r => less_one r acc) b a.
Definition is_empty {A} (b : list A) : bool := match b with [] => true | _ => false end.
Definition relate (op : R2S) (answer base old : Bag) : Bag :=
  match op with
  | Rstream => answer | Istream => more answer base | Dstream => more base answer
  | Append => more answer old
  end.
Definition rebase (b : Base) (base answer : Bag) : Bag :=
  match b with
  | PreviousNew => if is_empty (more answer base) then base else answer | Previous => answer
  end.
(** R2S-5, R2S-9 *)
Definition emits (e : Empty) (output before : Bag) : bool :=
  match e with
  | Emit => true | Suppress => negb (is_empty output)
  | Once => negb (is_empty output) || negb (is_empty before)
  end.
Definition still_there (now before : Content) : Content :=
  filter (fun e => existsb (Z.eqb (sys e)) (map sys before)) now.
(** R2R-1, R2R-8: a dataset is a set of quads; graph 0 is the default graph. *)
Definition Quad := (Triple * Z)%type.
Definition quad_eq (x y : Quad) : {x = y} + {x <> y}.
Proof. repeat decide equality. Defined.
Definition dataset (q : Query) (cs : list Content) : list Quad :=
  nodup quad_eq (static q ++ flat_map (fun x => map (fun g => (g, name (fst x))) (flat_map graph (snd x)))
                                      (combine (windows q) cs)).
Definition row_eq_dec := list_eq_dec Z.eq_dec.
Definition collect (c : Collection) (b : Bag) : Bag :=
  match c with AsBag => b | AsSet => nodup row_eq_dec b end.

(** * R2R-22: matches whose elements are consumed *)

(** A match of some patterns: what the variables are, the triples, the [sys] of their elements, and the
    first instant at which one of these elements ends. *)
Record Match := { bindings : list (Z * Z); triples : list Triple; parts : list Z; earliest : Z }.
(** What waits on the left and on the right of a join, in the order in which it came. *)
Record Join := { left : list Match; right : list Match }.

Definition value_of (v : Z) (bs : list (Z * Z)) : option Z :=
  option_map snd (find (fun b => fst b =? v) bs).
Definition bind (w : Word) (x : Z) (bs : option (list (Z * Z))) : option (list (Z * Z)) :=
  match bs, w with
  | None, _ => None
  | Some b, Const y => if x =? y then Some b else None
  | Some b, Var v =>
      match value_of v b with
      | None => Some (b ++ [(v, x)])
      | Some y => if x =? y then Some b else None
      end
  end.
Definition fit (p : Word * Word * Word) (x : Triple) : option (list (Z * Z)) :=
  let '(s, p, o) := p in let '(a, b, c) := x in bind o c (bind p b (bind s a (Some []))).
Definition agree (a b : list (Z * Z)) : bool :=
  forallb (fun x => match value_of (fst x) b with None => true | Some y => snd x =? y end) a.
Definition both (a b : Match) : Match :=
  {| bindings := bindings a ++ filter (fun x => match value_of (fst x) (bindings a) with
                                                | None => true | Some _ => false end) (bindings b);
     triples := triples a ++ triples b; parts := parts a ++ parts b;
     earliest := Z.min (earliest a) (earliest b) |}.
Definition same_match (a b : Match) : bool :=
  if list_eq_dec (fun x y : Triple => ltac:(repeat decide equality)) (triples a) (triples b)
  then true else false.
Definition without (m : Match) (ms : list Match) : list Match := filter (fun x => negb (same_match m x)) ms.
(** WIN-19: how far the first and the last element of a match may be apart; [None]: as far as they like. *)
Definition reach_of (s : Semantics) (w : Window) : option Z :=
  match kind w with Range => Some (size w + high s w - low s w) | _ => None end.

Section Consuming.
  Variables (s : Semantics) (near : option Z).
  (** Step 3 *)
  Definition can_join (now : Z) (a b : Match) : bool :=
    match near with None => true | Some d => now - Z.min (earliest a) (earliest b) <=? d end &&
    agree (bindings a) (bindings b).
  (** Step 4 *)
  Definition partner (ms : list Match) : option Match :=
    match consumption s with Recent => hd_error (rev ms) | _ => hd_error ms end.
  (** Steps 3 to 5: a match comes to the joins that are left, on the left of the first one or not.  What
      the joins are then, and the match of the body, if it is one. *)
  Fixpoint climb (now : Z) (is_left : bool) (m : Match) (joins : list Join) : list Join * list Match :=
    match joins with
    | [] => ([], [m])
    | j :: rest =>
        let (mine, others) := if is_left then (left j, right j) else (right j, left j) in
        let join_of mine others :=
          if is_left then {| left := mine; right := others |} else {| left := others; right := mine |} in
        match partner (filter (can_join now m) others) with
        | None => (join_of (without m mine ++ [m]) others :: rest, [])
        | Some x =>
            let (rest', made) := climb now true (if is_left then both m x else both x m) rest in
            (join_of mine (without x others) :: rest', made)
        end
    end.
  (** Step 2: a triple comes to the pattern with the number [n]. *)
  Definition come (e : Element) (x : Triple) (state : list Join * list Match)
      (numbered : nat * (Word * Word * Word)) : list Join * list Match :=
    let (joins, made) := state in let (n, p) := numbered in
    match fit p x with
    | None => state
    | Some b =>
        let m := {| bindings := b; triples := [x]; parts := [sys e]; earliest := until e |} in
        let passed := Nat.pred n in
        let (rest, new) := climb (app e) (Nat.eqb n 0) m (skipn passed joins) in
        (firstn passed joins ++ rest, made ++ new)
    end.
  Definition matches (ps : list (Word * Word * Word)) (es : list Element) : list Match :=
    let numbered := combine (seq 0 (length ps)) ps in
    let start := (map (fun _ => {| left := []; right := [] |}) (tl ps), []) in
    snd (fold_left (fun state e => fold_left (fun state x => fold_left (come e x) numbered state)
                                             (graph e) state) es start).
End Consuming.
(** R2R-22: the rows of the matches whose elements are all in a content. *)
Definition rows_of_matches (s : Semantics) (q : Query) (es : list Element) (cs : list Content) : Bag :=
  match windows q, cs with
  | w :: _, c :: _ =>
      let is_held x := existsb (Z.eqb x) (map sys c) in
      map (fun m => flat_map (fun v => match value_of v (bindings m) with Some x => [x] | None => [] end)
                             (selected q))
          (filter (fun m => forallb is_held (parts m)) (matches s (reach_of s w) (patterns q) es))
  | _, _ => []
  end.

(** ENG-4 *)
Definition stamp (s : Semantics) (arrivals : list Arrival) (r : Report) : Z :=
  let app_of k := nth (Z.to_nat k) (map at_ arrivals) 0 in
  match instant s with
  | AtClose => border s (at_instant r) | AtEvaluation => at_instant r
  | AtTrigger => app_of (arrival r)
  | AtEager => if arrival r =? 0 then at_instant r else app_of (arrival r - 1)
  end.
Record Emitted := { report : Report; triggered_by : Z; stamped : Z; late : Z; rows : Bag }.
Section Emission.
  Variable answer : list Quad -> Bag.  (* the body (§7) *)
  Variables (s : Semantics) (q : Query).
  Definition op : R2S := match operator q with Some o => o | None => r2s s end.  (* R2S-6 *)
  Variable es : list Element.  (* the elements that are not late *)
  Definition answer_over (cs : list Content) : Bag :=
    match consumption s with
    | Unrestricted => collect (collection s) (answer (dataset q cs))
    | _ => collect (collection s) (rows_of_matches s q es cs)
    end.
  Fixpoint outputs (base_ last : Bag) (kept : list Content) (rs : list Report) : list (Report * Bag) :=
    match rs with
    | [] => []
    | r :: rest =>
        let a := answer_over (holding r) in
        let old := match op with
                   | Append => answer_over (map (fun x => still_there (fst x) (snd x)) (combine (holding r) kept))
                   | _ => []
                   end in
        let output := relate op a base_ old in
        let others := outputs (rebase (base s) base_ a) output (holding r) rest in
        if emits (empty s) output last then (r, output) :: others else others
    end.
End Emission.
(** What is emitted of a report with its rows.  MOD-2: it counts the elements that were late until then. *)
Definition emitted_of (s : Semantics) (arrivals : list Arrival) (late_ones : list Element) (x : Report * Bag)
    : Emitted :=
  let a_sys_of := nth (Z.to_nat (arrival (fst x))) (map a_sys arrivals) 0 in
  {| report := fst x; stamped := stamp s arrivals (fst x);
     triggered_by := nth (Z.to_nat (arrival (fst x))) (map at_ arrivals) 0;
     late := Z.of_nat (length (filter (fun e => sys e <? a_sys_of) late_ones)); rows := snd x |}.
Definition evaluate (answer : list Quad -> Bag) (s : Semantics) (q : Query) (all : list Element) : list Emitted :=
  map (emitted_of s (arrivals_of s q all) (elements_of q all (dropped (lateness s))))
    (outputs answer s q (elements_of q all (admitted (lateness s))) [] [] (map (fun _ => []) (windows q))
       (reports s q all)).
