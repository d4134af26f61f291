(** §8: what the operators give, and the laws on Istream and Dstream, and on empty answers. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions.
Import ListNotations.
Open Scope Z_scope.

(** How often a row is in a bag. *)
Fixpoint count (b : Bag) (r : Row) : Z :=
  match b with [] => 0 | x :: b' => (if row_eq x r then 1 else 0) + count b' r end.
(** Two bags are the same if each row is as often in both. *)
Definition same_bag (a b : Bag) : Prop := forall r, count a r = count b r.

Lemma row_eq_iff a b : row_eq a b = true <-> a = b.
Proof. unfold row_eq, same_list; destruct (list_eq_dec Z.eq_dec a b); intuition congruence. Qed.
Lemma row_eq_refl a : row_eq a a = true.
Proof. now apply row_eq_iff. Qed.
Lemma count_nonneg b r : 0 <= count b r.
Proof. induction b as [|x b IH]; cbn; [lia|destruct (row_eq x r); lia]. Qed.
Lemma count_app a b r : count (a ++ b) r = count a r + count b r.
Proof. induction a; cbn; lia. Qed.
Lemma count_less_one r b x :
  count (less_one r b) x = if row_eq r x then Z.max 0 (count b x - 1) else count b x.
Proof.
  induction b as [|y b IH]; cbn; [destruct (row_eq r x); lia|].
  pose proof (count_nonneg b x).
  destruct (row_eq y r) eqn:Yr.
  - apply row_eq_iff in Yr as ->; destruct (row_eq r x); lia.
  - cbn; rewrite IH; destruct (row_eq r x) eqn:Rx, (row_eq y x) eqn:Yx; try lia.
    apply row_eq_iff in Rx, Yx; subst; rewrite row_eq_refl in Yr; discriminate.
Qed.

(** R2S-2: a − b holds each row as often as a has it more than b. *)
Theorem count_more a b r : count (more a b) r = Z.max 0 (count a r - count b r).
Proof.
  unfold more; revert a; induction b as [|x b IH]; intros a; cbn.
  - pose proof (count_nonneg a r); lia.
  - rewrite IH, count_less_one; pose proof (count_nonneg b r); destruct (row_eq x r); lia.
Qed.

Lemma is_empty_iff (b : Bag) : is_empty b = true <-> forall r, count b r = 0.
Proof.
  destruct b as [|x b]; cbn; [tauto|split; [discriminate|]].
  intros H; specialize (H x); rewrite row_eq_refl in H; pose proof (count_nonneg b x); lia.
Qed.

(** * Istream and dstream *)

(** A = B − (B − A) + (A − B), and B − (B − A) is a difference that loses nothing. *)
Theorem reconstruct A B : same_bag (more B (more B A) ++ more A B) A.
Proof.
  intros r; rewrite count_app, !count_more.
  pose proof (count_nonneg A r); pose proof (count_nonneg B r); lia.
Qed.
Lemma same_bag_more a a' b b' : same_bag a a' -> same_bag b b' -> same_bag (more a b) (more a' b').
Proof. intros H H' r; rewrite !count_more, H, H'; reflexivity. Qed.
Lemma same_bag_app a a' b b' : same_bag a a' -> same_bag b b' -> same_bag (a ++ b) (a' ++ b').
Proof. intros H H' r; now rewrite !count_app, H, H'. Qed.

(** The outputs of Istream and Dstream over answers that come one after the other. *)
Fixpoint both_streams (b : Base) (base : Bag) (answers : list Bag) : list (Bag * Bag) :=
  match answers with
  | [] => []
  | a :: rest => (relate Istream a base [], relate Dstream a base []) ::
                 both_streams b (rebase b base a) rest
  end.
(** The law's B: empty at first; B − D + I is the answer; B is then this answer for [Previous], and for
    [PreviousNew] only where I is not empty. *)
Fixpoint rebuilt (b : Base) (B : Bag) (outputs : list (Bag * Bag)) : list Bag :=
  match outputs with
  | [] => []
  | (i, d) :: rest =>
      let a := more B d ++ i in
      a :: rebuilt b (match b with Previous => a | PreviousNew => if is_empty i then B else a end) rest
  end.
Theorem istream_and_dstream_reconstruct b answers :
  Forall2 same_bag (rebuilt b [] (both_streams b [] answers)) answers.
Proof.
  enough (G : forall B B', same_bag B B' ->
              Forall2 same_bag (rebuilt b B (both_streams b B' answers)) answers)
    by (apply G; now intros r).
  induction answers as [|a rest IH]; intros B B' E; cbn; [constructor|].
  assert (R : same_bag (more B (more B' a) ++ more a B') a).
  { intros r; rewrite <- (reconstruct a B' r).
    apply same_bag_app; [apply same_bag_more; [assumption|]|]; now intros ?. }
  constructor; [exact R|apply IH; destruct b; cbn; [exact R|]].
  now destruct (is_empty (more a B')).
Qed.

Section Outputs.
  Variables (answer : list Quad -> Bag) (s : Semantics) (q : Query) (es : list Element).
  Let over (r : Report) : Bag := answer_over answer s q es (holding r).
  (** With empty answers emitted, the outputs of a query are those of [both_streams]. *)
  Theorem outputs_are_both_streams rs base_ last kept :
    empty s = Emit -> op s q = Istream \/ op s q = Dstream ->
    map snd (outputs answer s q es base_ last kept rs) =
    map (match op s q with Istream => fst | _ => snd end) (both_streams (base s) base_ (map over rs)).
  Proof.
    intros E O; revert base_ last kept; induction rs as [|r rs IH]; intros; cbn [outputs map]; [reflexivity|].
    cbv zeta; rewrite E; cbn; rewrite IH; destruct O as [-> | ->]; reflexivity.
  Qed.
End Outputs.

(** * Empty answers *)

Definition but_empty (s : Semantics) (e : Empty) : Semantics :=
  {| t0 := t0 s; closure := closure s; slide_choice := slide_choice s; partial := partial s;
     window_close := window_close s; content_change := content_change s; non_empty := non_empty s;
     periodic := periodic s; close_rule := close_rule s; baseline := baseline s;
     change_scope := change_scope s; expiry_seen := expiry_seen s; missed := missed s; tick := tick s;
     trigger := trigger s; collection := collection s; consumption := consumption s; r2s := r2s s;
     base := base s; empty := e; horizon := horizon s; instant := instant s; lateness := lateness s |}.

(** What [Once] keeps of what is emitted: also an empty output that directly follows one that is not. *)
Fixpoint first_of_empties (last : Bag) (ps : list (Report * Bag)) : list (Report * Bag) :=
  match ps with
  | [] => []
  | p :: rest => let others := first_of_empties (snd p) rest in
                 if negb (is_empty (snd p)) || negb (is_empty last) then p :: others else others
  end.

Section EmptyAnswers.
  Variables (answer : list Quad -> Bag) (s : Semantics) (q : Query) (es : list Element).
  (** "[suppress] gives the reports of [emit] whose relation is not empty ..." *)
  Theorem suppress_is_emit_without_empty rs base_ last kept :
    outputs answer (but_empty s Suppress) q es base_ last kept rs =
    filter (fun p => negb (is_empty (snd p))) (outputs answer (but_empty s Emit) q es base_ last kept rs).
  Proof.
    revert base_ last kept; induction rs as [|r rs IH]; intros; cbn [outputs filter]; [reflexivity|].
    cbv zeta; cbn [emits empty but_empty filter snd].
    change (op (but_empty s Suppress) q) with (op (but_empty s Emit) q).
    change (answer_over answer (but_empty s Suppress)) with (answer_over answer (but_empty s Emit)).
    rewrite IH; match goal with |- context [is_empty ?b] => now destruct (is_empty b) end.
  Qed.
  (** "... and [once] gives these and, of the empty ones, each that directly follows one that is not empty
      in [emit]." *)
  Theorem once_is_emit_without_repeated_empties rs base_ last kept :
    outputs answer (but_empty s Once) q es base_ last kept rs =
    first_of_empties last (outputs answer (but_empty s Emit) q es base_ last kept rs).
  Proof.
    revert base_ last kept; induction rs as [|r rs IH]; intros; cbn [outputs first_of_empties]; [reflexivity|].
    cbv zeta; cbn [emits empty but_empty first_of_empties snd].
    change (op (but_empty s Once) q) with (op (but_empty s Emit) q).
    change (answer_over answer (but_empty s Once)) with (answer_over answer (but_empty s Emit)).
    now rewrite IH.
  Qed.
  (** The values of [empty], where no output is empty. *)
  Theorem no_output_is_empty e e' rs base_ last kept :
    Forall (fun p => is_empty (snd p) = false) (outputs answer (but_empty s Emit) q es base_ last kept rs) ->
    outputs answer (but_empty s e) q es base_ last kept rs =
    outputs answer (but_empty s e') q es base_ last kept rs.
  Proof.
    assert (G : forall ps l, Forall (fun p : Report * Bag => is_empty (snd p) = false) ps ->
                filter (fun p => negb (is_empty (snd p))) ps = ps /\ first_of_empties l ps = ps).
    { intros ps l F; revert l; induction F as [|p ps P Ps IH]; intros l; [split; reflexivity|].
      destruct (IH (snd p)) as [E1 E2]; cbn; change (@is_empty Row (snd p)) with (@is_empty (list Z) (snd p)) in *.
      rewrite P; cbn; split; [now rewrite E1|now rewrite E2]. }
    intros F; destruct (G _ last F) as [A B].
    assert (E : forall x, outputs answer (but_empty s x) q es base_ last kept rs =
                          outputs answer (but_empty s Emit) q es base_ last kept rs).
    { intros []; [reflexivity| |].
      - now rewrite suppress_is_emit_without_empty.
      - now rewrite once_is_emit_without_repeated_empties. }
    now rewrite (E e), (E e').
  Qed.
End EmptyAnswers.
