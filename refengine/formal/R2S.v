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
