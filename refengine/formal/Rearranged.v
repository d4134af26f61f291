(** Elements that arrive in another order among themselves: what sorting and lateness (§1) make of them. *)
From Coq Require Import ZArith List Bool Lia Permutation.
From RefEngine Require Import Definitions R2S Choices.
Import ListNotations.
Open Scope Z_scope.

(** * Arrivals in another order *)

Definition What := (Z * Z * Z * list Triple)%type.
(** What an element is, but for its place in the order of arrival, and that place. *)
Definition what (e : Element) : What := (stream e, app e, until e, graph e).
Definition place_of (e : Element) : Z * Z := (sys e, batch e).
(** Of the elements, in the order in which they arrive, some that follow one another and are simultaneous are in
    any other order in the same places; [alone]: if they are of one stream. *)
Inductive rearranged (alone : bool) : list Element -> list Element -> Prop :=
| no_arrivals : rearranged alone [] []
| in_another_order run run' rest rest' t :
    (forall e, In e run -> app e = t) -> (alone = true -> exists n, forall e, In e run -> stream e = n) ->
    Permutation (map what run) (map what run') -> map place_of run = map place_of run' ->
    rearranged alone rest rest' -> rearranged alone (run ++ rest) (run' ++ rest').

(** * Lists *)

Lemma filter_perm {A} (f : A -> bool) xs ys : Permutation xs ys -> Permutation (filter f xs) (filter f ys).
Proof.
  induction 1; cbn; [constructor|destruct (f x); auto|destruct (f x), (f y); auto; apply perm_swap|eauto using Permutation_trans].
Qed.
Lemma forallb_perm {A} (f : A -> bool) xs ys : Permutation xs ys -> forallb f xs = forallb f ys.
Proof. induction 1; cbn; [reflexivity|now f_equal|destruct (f x), (f y); reflexivity|congruence]. Qed.
Lemma existsb_perm {A} (f : A -> bool) xs ys : Permutation xs ys -> existsb f xs = existsb f ys.
Proof. induction 1; cbn; [reflexivity|now f_equal|destruct (f x), (f y); reflexivity|congruence]. Qed.
Lemma forallb_map {A B} (f : B -> bool) (g : A -> B) xs : forallb f (map g xs) = forallb (fun x => f (g x)) xs.
Proof. induction xs; cbn; congruence. Qed.
Lemma filter_filter {A} (f g : A -> bool) xs : filter f (filter g xs) = filter (fun x => g x && f x) xs.
Proof. induction xs as [|x xs IH]; cbn; [reflexivity|]; destruct (g x); cbn; [destruct (f x)|]; now rewrite IH. Qed.
Lemma map_filter {A B} (f : B -> bool) (g : A -> B) xs : map g (filter (fun x => f (g x)) xs) = filter f (map g xs).
Proof. induction xs as [|x xs IH]; cbn; [reflexivity|]; destruct (f (g x)); cbn; now rewrite IH. Qed.
Lemma filter_none {A} (f : A -> bool) xs : (forall x, In x xs -> f x = false) -> filter f xs = [].
Proof. induction xs as [|x xs IH]; cbn; intros H; [reflexivity|]; rewrite H by (now left); apply IH; auto. Qed.
Lemma filter_every {A} (f : A -> bool) xs : (forall x, In x xs -> f x = true) -> filter f xs = xs.
Proof. induction xs as [|x xs IH]; cbn; intros H; [reflexivity|]; rewrite H by (now left); f_equal; apply IH; auto. Qed.
Lemma named_once {A} (f : A -> Z) xs x y : NoDup (map f xs) -> In x xs -> In y xs -> f x = f y -> x = y.
Proof.
  induction xs as [|z xs IH]; cbn; intros N; [easy|]; inversion N as [|? ? Z N']; subst.
  intros [->|Hx] [->|Hy] E; auto; exfalso; apply Z; [rewrite E|rewrite <- E]; now apply in_map.
Qed.
Lemma nodup_left {A} (xs ys : list A) : NoDup (xs ++ ys) -> NoDup xs.
Proof.
  induction xs as [|x xs IH]; cbn; intros N; [constructor|]; inversion N as [|? ? X N']; subst; constructor; [|auto].
  intros H; apply X, in_or_app; now left.
Qed.
Lemma same_length {A B} (R : A -> B -> Prop) xs ys : Forall2 R xs ys -> length xs = length ys.
Proof. induction 1; cbn; congruence. Qed.
Lemma Forall2_rev_of {A B} (R : A -> B -> Prop) xs ys : Forall2 R xs ys -> Forall2 R (rev xs) (rev ys).
Proof. induction 1; cbn; [constructor|apply Forall2_app; [assumption|now repeat constructor]]. Qed.
Lemma Forall2_filter {A} (R : A -> A -> Prop) f xs ys : (forall x y, R x y -> f x = f y) ->
  Forall2 R xs ys -> Forall2 R (filter f xs) (filter f ys).
Proof. intros E; induction 1 as [|x y xs ys H F IH]; cbn; [constructor|]; rewrite <- (E x y H); destruct (f x); auto. Qed.

(** Lists in order with the same numbers are the same. *)
Fixpoint rising (xs : list Z) : Prop :=
  match xs with [] => True | x :: rest => (forall y, In y rest -> x <= y) /\ rising rest end.
Lemma rising_once xs ys : rising xs -> rising ys -> Permutation xs ys -> xs = ys.
Proof.
  revert ys; induction xs as [|x xs IH]; intros [|y ys] R R' P; cbn in *; [reflexivity|now apply Permutation_nil in P|
    now apply Permutation_sym, Permutation_nil in P|]; destruct R as [L R], R' as [L' R'].
  assert (x = y); [|subst; f_equal; apply IH; [assumption|assumption|now apply Permutation_cons_inv in P]].
  pose proof (Permutation_in _ P (or_introl eq_refl)) as Hx; pose proof (Permutation_in _ (Permutation_sym P) (or_introl eq_refl)) as Hy.
  destruct Hx as [->|Hx], Hy as [Hy|Hy]; auto; specialize (L' x Hx); specialize (L y Hy); lia.
Qed.
Lemma maximum_in xs x : In (maximum xs x) (x :: xs).
Proof.
  unfold maximum; revert x; induction xs as [|y xs IH]; intros x; cbn; [now left|].
  destruct (IH (Z.max x y)) as [E|E]; [|tauto]; destruct (Z.max_spec x y) as [[_ M]|[_ M]]; rewrite M in E at 1; auto.
Qed.
Lemma maximum_perm xs x ys y : Permutation (x :: xs) (y :: ys) -> maximum xs x = maximum ys y.
Proof.
  intros P; pose proof (Permutation_in _ P (maximum_in xs x)) as I.
  pose proof (Permutation_in _ (Permutation_sym P) (maximum_in ys y)) as I'.
  assert (G : forall zs z m, In m (z :: zs) -> m <= maximum zs z)
    by (intros zs z m [->|H]; apply maximum_ge; auto).
  apply G in I, I'; lia.
Qed.
Lemma perm_same_bag a b : Permutation a b -> same_bag a b.
Proof. induction 1; intros r; cbn; [reflexivity|rewrite IHPermutation; reflexivity|lia|now rewrite IHPermutation1, IHPermutation2]. Qed.
Lemma in_count b r : In r b <-> 0 < count b r.
Proof.
  induction b as [|x b IH]; cbn; [split; [easy|lia]|]; rewrite IH; pose proof (count_nonneg b r).
  destruct (row_eq x r) eqn:E; [apply row_eq_iff in E; split; [lia|now left]|].
  split; [intros [->|H']; [rewrite row_eq_refl in E; discriminate|lia]|intros; right; lia].
Qed.

(** * Sorting, and lateness *)

Section Alike.
  Variable R : Element -> Element -> Prop.
  Lemma sort_alike before xs ys : (forall a b a' b', R a a' -> R b b' -> before a b = before a' b') ->
    Forall2 R xs ys -> Forall2 R (sort before xs) (sort before ys).
  Proof.
    intros E; induction 1 as [|x y xs ys H F IH]; cbn; [constructor|].
    revert x y H; induction IH as [|u v us vs U F' IH']; intros x y H; cbn; [repeat constructor; assumption|].
    rewrite (E x u y v H U); destruct (before y v); auto.
  Qed.
  Hypothesis same_app : forall a b, R a b -> app a = app b.
  Lemma split_alike d xs ys : forall earlier earlier', Forall2 R earlier earlier' -> Forall2 R xs ys ->
    Forall2 R (fst (split_late d earlier xs)) (fst (split_late d earlier' ys)) /\
    Forall2 R (snd (split_late d earlier xs)) (snd (split_late d earlier' ys)).
  Proof.
    intros earlier earlier' E F; revert earlier earlier' E; induction F as [|x y xs ys H F IH]; intros b b' E; cbn; [split; constructor|].
    specialize (IH (b ++ [x]) (b' ++ [y]) (Forall2_app E (Forall2_cons _ _ H (Forall2_nil R)))).
    assert (L : is_late d x b = is_late d y b').
    { unfold is_late; destruct d; [|reflexivity]; rewrite (same_app _ _ H); clear - E same_app.
      induction E as [|u v us vs U E IH]; cbn; [reflexivity|]; now rewrite (same_app _ _ U), IH. }
    rewrite L; destruct (split_late d (b ++ [x]) xs), (split_late d (b' ++ [y]) ys), IH; cbn in *.
    destruct (is_late d y b'); cbn; auto.
  Qed.
End Alike.
Lemma sort_perm before (xs : list Element) : Permutation (sort before xs) xs.
Proof.
  induction xs as [|x xs IH]; cbn; [constructor|]; etransitivity; [|apply perm_skip, IH].
  generalize (sort before xs); intros ys; induction ys as [|y ys IHy]; cbn; [reflexivity|].
  destruct (before x y); [|reflexivity]; etransitivity; [apply perm_skip, IHy|apply perm_swap].
Qed.
Lemma split_perm d earlier xs : Permutation (fst (split_late d earlier xs) ++ snd (split_late d earlier xs)) xs.
Proof.
  revert earlier; induction xs as [|x xs IH]; intros b; cbn; [constructor|]; specialize (IH (b ++ [x])).
  destruct (split_late d (b ++ [x]) xs); cbn in IH; destruct (is_late d x b); cbn;
    [rewrite <- Permutation_middle|]; now apply perm_skip.
Qed.
Lemma sort_rises names es : rising (map app (sort (comes_after names) es)).
Proof.
  induction es as [|e es IH]; cbn; [trivial|].
  revert IH; generalize (sort (comes_after names) es); intros xs; induction xs as [|x xs IH]; intros S; cbn; [easy|].
  destruct S as [L S]; destruct (comes_after names e x) eqn:C; unfold comes_after in C; cbn.
  - split; [|now apply IH].
    assert (I : forall z, In z (insert (comes_after names) e xs) -> z = e \/ In z xs).
    { clear; induction xs as [|x xs IH]; cbn; [intros z [->|[]]; now left|].
      intros z; destruct (comes_after names e x); cbn; [intros [->|H]; [tauto|apply IH in H; tauto]|intros [->|H]; tauto]. }
    intros y Hy; apply in_map_iff in Hy as (z & <- & Hz); apply I in Hz as [->|Hz]; [|now apply L, in_map].
    apply orb_true_iff in C as [C|C]; [lia|apply andb_true_iff in C; lia].
  - split; [|split; assumption]; intros y [<-|Hy]; [|specialize (L y Hy)]; apply orb_false_iff in C as [C _]; lia.
Qed.

(** * What arrives *)

(** Of one stream: what [rearranged] says of the elements, but for their places. *)
Inductive blocks : list Element -> list Element -> Prop :=
| no_block : blocks [] []
| a_block run run' rest rest' t : (forall e, In e run -> app e = t) ->
    Permutation (map what run) (map what run') -> blocks rest rest' -> blocks (run ++ rest) (run' ++ rest').
Lemma in_what run run' e : Permutation (map what run) (map what run') -> In e run' -> exists e', In e' run /\ what e' = what e.
Proof.
  intros P H; apply (in_map what), (Permutation_in _ (Permutation_sym P)), in_map_iff in H as (x & E & H); eauto.
Qed.
Lemma run_app run run' t : (forall e, In e run -> app e = t) -> Permutation (map what run) (map what run') ->
  forall e, In e run' -> app e = t.
Proof. intros A P e He; destruct (in_what _ _ _ P He) as (x & Hx & E); injection E as _ <- _ _; auto. Qed.
Lemma blocks_of alone xs ys n : rearranged alone xs ys ->
  blocks (filter (fun e => stream e =? n) xs) (filter (fun e => stream e =? n) ys).
Proof.
  induction 1 as [|run run' rest rest' t A _ P _ _ IH]; [constructor|]; rewrite !filter_app.
  apply a_block with t; [intros e He; apply filter_In in He; now apply A| |assumption].
  pose (of_n := fun w : What => fst (fst (fst w)) =? n); change (fun e => stream e =? n) with (fun e => of_n (what e)).
  rewrite (map_filter of_n what run), (map_filter of_n what run'); now apply filter_perm.
Qed.
Lemma blocks_same_app xs ys : blocks xs ys -> Forall2 (fun a b => app a = app b) xs ys.
Proof.
  induction 1 as [|run run' rest rest' t A P _ IH]; [constructor|]; apply Forall2_app; [|assumption].
  pose proof (run_app _ _ _ A P) as A'; apply Permutation_length in P; rewrite !map_length in P; clear - A A' P.
  revert run' A' P; induction run as [|x run IH]; intros [|y run'] A' P; try discriminate; constructor.
  - rewrite (A x), (A' y) by (now left); reflexivity.
  - apply IH; [intros; apply A; now right|intros; apply A'; now right|now injection P].
Qed.
Lemma blocks_what xs ys : blocks xs ys -> Permutation (map what xs) (map what ys).
Proof. induction 1; [constructor|rewrite !map_app; now apply Permutation_app]. Qed.
Lemma split_run d t run rest : match d with Some n => 0 <= n | None => True end -> (forall e, In e run -> app e = t) ->
  forall earlier, split_late d earlier (run ++ rest) =
    let (i, l) := split_late d (earlier ++ run) rest in
    if is_late d {| stream := 0; app := t; until := t; sys := 0; batch := 0; graph := [] |} earlier
    then (i, run ++ l) else (run ++ i, l).
Proof.
  intros D A; induction run as [|e run IH]; intros b; cbn [List.app split_late].
  - rewrite app_nil_r; destruct (split_late d b rest); now destruct (is_late _ _ _).
  - rewrite IH by (intros; apply A; now right); rewrite <- app_assoc; cbn [List.app].
    destruct (split_late d (b ++ e :: run) rest) as [i l]; rewrite <- (A e (or_introl eq_refl)).
    assert (L : forall x, app x = app e -> is_late d x (b ++ [e]) = is_late d x b /\ is_late d x b = is_late d e b).
    { intros x E; unfold is_late; destruct d as [d|]; [|easy]; rewrite existsb_app, E; cbn.
      replace (d <? app e - app e) with false by lia; now rewrite !orb_false_r. }
    destruct (L {| stream := 0; app := app e; until := app e; sys := 0; batch := 0; graph := [] |} eq_refl) as [-> ->].
    now destruct (is_late d e b).
Qed.
Lemma blocks_split d xs ys : match d with Some n => 0 <= n | None => True end -> blocks xs ys ->
  forall b b', Forall2 (fun x y => app x = app y) b b' ->
  blocks (fst (split_late d b xs)) (fst (split_late d b' ys)) /\ blocks (snd (split_late d b xs)) (snd (split_late d b' ys)).
Proof.
  intros D; induction 1 as [|run run' rest rest' t A P B IH]; intros b b' E; cbn; [split; constructor|].
  rewrite (split_run d t run rest D A), (split_run d t run' rest' D (run_app _ _ _ A P)).
  assert (E' : Forall2 (fun x y => app x = app y) (b ++ run) (b' ++ run')).
  { apply Forall2_app; [assumption|]; rewrite <- (app_nil_r run), <- (app_nil_r run').
    apply blocks_same_app, a_block with t; auto; constructor. }
  specialize (IH _ _ E').
  assert (L : forall x, is_late d x b = is_late d x b').
  { intros x; unfold is_late; destruct d; [|reflexivity]; clear - E.
    induction E as [|u v us vs U E IH]; cbn; [reflexivity|]; now rewrite U, IH. }
  rewrite L; destruct (split_late d (b ++ run) rest), (split_late d (b' ++ run') rest'), IH; cbn in *.
  destruct (is_late d _ b'); cbn; split; auto; now apply a_block with t.
Qed.
