(** The law "Refinement" of docs/laws.md, for all queries. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Alike Equivalences Choices.
Import ListNotations.
Open Scope Z_scope.

Inductive subsequence {A} : list A -> list A -> Prop :=
| sub_nil : subsequence [] []
| sub_skip x xs ys : subsequence xs ys -> subsequence xs (x :: ys)
| sub_keep x xs ys : subsequence xs ys -> subsequence (x :: xs) (x :: ys).
Lemma sub_app {A} (a b c e : list A) : subsequence a b -> subsequence c e -> subsequence (a ++ c) (b ++ e).
Proof. induction 1; cbn; intros; [assumption|apply sub_skip; auto|apply sub_keep; auto]. Qed.
Lemma sub_none {A} (ys : list A) : subsequence [] ys.
Proof. induction ys; [apply sub_nil|now apply sub_skip]. Qed.

Section Refinement.
  (** "A report with more conditions (none is `arrival`) gives a subsequence of the evaluations, with the same
      contents, where the one with fewer does not name content change. ..."  s' has more conditions than s. *)
  Variables (s s' : Semantics) (q : Query) (all : list Element).
  Hypothesis fields : differ_only_in [Close_; Change_; NonEmpty_; Periodic_; Baseline_; ChangeScope_] s s'.
  Hypothesis fewer_close : window_close s = true -> window_close s' = true.
  Hypothesis fewer_empty : non_empty s = true -> non_empty s' = true.
  Hypothesis fewer_periodic : periodic s = None \/ periodic s' = periodic s.
  Hypothesis no_change : content_change s = false.
  Let ps := map (place s q all) (windows q).
  (** "... For all windows of a gap and windows that are not tuple-based; or for tuple-based ones, if what is added
      is non-empty or content change, or both." *)
  Hypothesis what_is_added : missed s = All /\ first_is_tuple ps = false \/
    first_is_tuple ps = true /\ window_close s' = window_close s /\ periodic s' = periodic s.

  Let same_fields : t0 s' = t0 s /\ closure s' = closure s /\ slide_choice s' = slide_choice s /\ lateness s' = lateness s /\
    partial s' = partial s /\ close_rule s' = close_rule s /\ expiry_seen s' = expiry_seen s /\ tick s' = tick s /\
    missed s' = missed s /\ trigger s' = trigger s /\ horizon s' = horizon s.
  Proof. clear - fields; equate fields; repeat split. Qed.
  Lemma placed_alike : map (place s' q all) (windows q) = ps.
  Proof.
    destruct same_fields as (E & E1 & E2 & E3 & _).
    apply map_ext; intros w; unfold place, origin_of, not_earlier, slide, low, high; now rewrite ?(ltac:(clear - fields; now equate fields) : not_before s' = not_before s), E, E1, E2, E3.
  Qed.
  Lemma itself p : same_window s s' p p.
  Proof.
    destruct same_fields as (E & E1 & E2 & E3 & E4 & _); constructor; try reflexivity.
    - unfold slide; now rewrite E2.
    - now left.
    - unfold least, cut, slide; now rewrite E1, E2, E4.
    - destruct (origin p); [|exact I]; unfold first_instant, last_instant, slide, low, high; now rewrite E1, E2.
  Qed.
  Lemma content_itself p t b : content s' p t b = content s p t b.
  Proof.
    destruct same_fields as (E & E1 & E2 & E3 & E4 & _); unfold content.
    rewrite <- (same_current s s' p p t (itself p)); destruct (origin p) as [o|]; [|reflexivity].
    destruct (current s p t) as [n|]; [|reflexivity].
    assert (M : forall e, meets s' p o n t e = meets s p o n t e)
      by (intros; unfold meets, clipped_first, first_instant, last_instant, slide, low, high; now rewrite E1, E2, E4).
    destruct (kind (win p)); try (apply filter_ext, M); [|reflexivity].
    unfold latest_rows, slide; now rewrite E2.
  Qed.
  Lemma contents_itself qs t b : contents s' qs t b = contents s qs t b.
  Proof. apply map_ext; intros; apply content_itself. Qed.
  Lemma report_itself t k b : seen (report_at s' ps t k b) = seen (report_at s ps t k b).
  Proof. unfold seen, report_at; cbn; now rewrite contents_itself. Qed.
  Lemma more_timely p o t : timely s' o t p = true -> timely s o t p = true.
  Proof.
    destruct same_fields as (E & E1 & E2 & E3 & E4 & _).
    unfold timely; rewrite <- (same_scope s s' p p t (itself p)), !andb_true_iff; intros [C P].
    assert (Cl : closes_at s' p t = closes_at s p t) by (unfold closes_at, last_instant, least, cut, slide, high; now rewrite E1, E2, E4).
    rewrite Cl in C; split.
    - destruct (window_close s); [now rewrite fewer_close in C|reflexivity].
    - destruct fewer_periodic as [->|Q]; [reflexivity|]; rewrite Q in P; unfold is_periodic, border in *; now rewrite Q, E1 in P.
  Qed.
  Lemma more_worthy p t b c c' : worthy s' t b p c' = true -> worthy s t b p c = true.
  Proof.
    unfold worthy; rewrite <- (same_scope s s' p p t (itself p)), content_itself, no_change, !andb_true_iff; intros [[S _] N].
    repeat split; [assumption|]; destruct (non_empty s); [now rewrite fewer_empty in N|reflexivity].
  Qed.
  Lemma more_fires (f f' : Placed -> Content -> bool) cs cs' :
    (forall p c c', f' p c' = true -> f p c = true) -> length cs = length ps -> length cs' = length ps ->
    fires s' (map (fun x => (win (fst x), f' (fst x) (snd x))) (combine ps cs')) = true ->
    fires s (map (fun x => (win (fst x), f (fst x) (snd x))) (combine ps cs)) = true.
  Proof.
    intros H; destruct same_fields as (_ & _ & _ & _ & _ & _ & _ & _ & _ & T & _); unfold fires; rewrite T; clear T.
    destruct (trigger s).
    - revert cs cs'; generalize ps; intros qs; induction qs as [|p qs IH]; intros [|c cs] [|c' cs']; cbn; try easy.
      intros L L'; rewrite !orb_true_iff; intros [X|X]; [left; eauto|right; eapply IH; eauto].
    - revert cs cs'; generalize ps; intros qs; induction qs as [|p qs IH]; intros [|c cs] [|c' cs']; cbn; try easy.
      intros L L'; rewrite !andb_true_iff; intros [X Y]; split; [eauto|eapply IH; eauto].
    - generalize ps; intros qs; destruct qs as [|p qs], cs as [|c cs], cs' as [|c' cs']; cbn; try easy; eauto.
    - revert cs cs'; generalize ps; intros qs; induction qs as [|p qs IH]; intros [|c cs] [|c' cs']; cbn; try easy.
      intros L L'; rewrite !orb_true_iff, !andb_true_iff; intros [[X Y]|X]; [left; eauto|right; eapply IH; eauto].
  Qed.
  Let wf (m : Memory) := length (reported m) = length ps /\ length (previous m) = length ps.
  Lemma contents_length x t b : length (contents x ps t b) = length ps.
  Proof. apply map_length. Qed.
  Lemma compared_length x m : wf m -> length (compared_with x m) = length ps.
  Proof. intros [A B]; unfold compared_with; now destruct (baseline x). Qed.
  Lemma wf_new x (b : bool) m t bf : wf m ->
    wf {| reported := if b then contents x ps t bf else reported m; previous := contents x ps t bf |}.
  Proof. intros [A B]; split; cbn; [destruct b|]; rewrite ?contents_length; assumption || reflexivity. Qed.
  Lemma more_visit b o k ts m m' : wf m -> wf m' ->
    subsequence (map seen (fst (visit s' ps b o k ts m'))) (map seen (fst (visit s ps b o k ts m))) /\
    wf (snd (visit s ps b o k ts m)) /\ wf (snd (visit s' ps b o k ts m')).
  Proof.
    revert m m'; induction ts as [|t ts IH]; intros m m' Wf Wf'; cbn [visit]; [repeat split; try apply Wf; try apply Wf'; constructor|].
    cbv zeta; set (ok := fires s _); set (ok' := fires s' _).
    assert (Q : ok' = true -> ok = true).
    { apply (more_fires (fun p c => timely s o t p && worthy s t b p c) (fun p c => timely s' o t p && worthy s' t b p c));
        try (now apply compared_length).
      intros p c c'; rewrite !andb_true_iff; intros [A B]; split; [now apply more_timely|now apply (more_worthy _ _ _ c c')]. }
    destruct (IH _ _ (wf_new s (match missed s with All => ok | Latest => false end) m t b Wf)
                     (wf_new s' (match missed s' with All => ok' | Latest => false end) m' t b Wf')) as (V & X & Y).
    destruct (visit s ps b o k ts _) as [rs r], (visit s' ps b o k ts _) as [rs' r']; cbn [fst snd] in *.
    split; [|split; assumption].
    destruct ok', ok; cbn [map]; rewrite ?report_itself; try (now apply sub_keep); try (now apply sub_skip); [now specialize (Q eq_refl)|assumption].
  Qed.
  Lemma more_by_tick xs b o k ts m m' : xs = ps -> wf m -> wf m' -> first_is_tuple ps = true ->
    window_close s' = window_close s -> periodic s' = periodic s ->
    subsequence (map seen (fst (by_tick s' xs b o k ts m'))) (map seen (fst (by_tick s xs b o k ts m))) /\
    wf (snd (by_tick s xs b o k ts m)) /\ wf (snd (by_tick s' xs b o k ts m')).
  Proof.
    intros Eps Wf Wf' Tu C P; unfold by_tick.
    assert (Ti : forall p t, timely s' o t p = timely s o t p).
    { intros p t; destruct same_fields as (E & E1 & E2 & E3 & E4 & _).
      unfold timely; rewrite <- (same_scope s s' p p t (itself p)), C, P.
      unfold is_periodic, border, closes_at, last_instant, least, cut, slide, high; now rewrite P, E1, E2, E4. }
    destruct xs as [|p qs]; [rewrite <- Eps in Tu; discriminate|].
    destruct (rev ts) as [|final earlier]; [repeat split; try apply Wf; try apply Wf'; constructor|].
    rewrite Eps; cbv zeta.
    rewrite (filter_ext _ _ (fun t => Ti p t)).
    set (mm := match earlier with [] => m | t :: _ => _ end); set (mm' := match earlier with [] => m' | t :: _ => _ end).
    assert (Wm : wf mm) by (unfold mm; destruct earlier; [assumption|split; cbn; [apply Wf|apply contents_length]]).
    assert (Wm' : wf mm') by (unfold mm'; destruct earlier; [assumption|split; cbn; [apply Wf'|apply contents_length]]).
    set (ok := fires s _); set (ok' := fires s' _).
    assert (Q : ok' = true -> ok = true).
    { apply (more_fires (worthy s final b) (worthy s' final b)); try (now apply compared_length).
      intros; now apply (more_worthy _ _ _ c c'). }
    destruct (filter _ _) as [|t ?]; [repeat split; cbn; try apply Wf; try apply Wf'; try apply contents_length; constructor|].
    destruct ok', ok; cbn [fst snd map]; rewrite ?report_itself;
      (split; [try (now specialize (Q eq_refl)); repeat constructor|]);
      split; split; cbn; try apply contents_length; try apply Wf; apply Wf'.
  Qed.
  Theorem refinement : subsequence (map seen (reports s' q all)) (map seen (reports s q all)).
  Proof.
    destruct same_fields as (E & E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8 & E9 & E10).
    assert (Ar : arrivals_of s' q all = arrivals_of s q all)
      by (unfold arrivals_of, horizon_of, reach, slide; now rewrite E2, E3, E10).
    assert (Ws : Forall2 (same_window s s') ps ps) by (generalize ps; intros l; induction l; constructor; auto using itself).
    unfold reports; rewrite placed_alike; fold ps; rewrite <- (same_starts s s' ps ps Ws), Ar.
    destruct (starts s ps) as [|x xs]; [constructor|].
    set (start := fold_left Z.min xs x); set (l := {| looked_app := _ |}); set (m := {| reported := _ |}).
    assert (Wf : wf m) by (split; cbn; apply map_length).
    enough (G : forall arrivals b l m m' k, wf m -> wf m' ->
      subsequence (map seen (run s' ps start b l m' k arrivals)) (map seen (run s ps start b l m k arrivals))) by now apply G.
    clear l m Wf; induction arrivals as [|a rest IH]; intros b l m m' k Wf Wf'; cbn [run]; [constructor|].
    assert (O : own s' ps a = own s ps a) by (unfold own; now rewrite E1, E5).
    assert (I : forall x y, interval s' ps start x y = interval s ps start x y).
    { intros; unfold interval; now rewrite E6, (same_moves s s' ps ps Ws). }
    unfold is_due; rewrite E7, O, I; destruct (match tick s with TupleTick => _ | _ => _ end); [|now apply IH].
    set (ts := interval _ _ _ _ _); destruct what_is_added as [[G Tu]|(Tu & C & P)]; rewrite Tu.
    - unfold by_instant; destruct (more_visit b (own s ps a) k ts m m' Wf Wf') as (V & X & Y).
      destruct (visit s ps _ _ _ _ m), (visit s' ps _ _ _ _ m'); cbn [fst snd] in *; rewrite E8, G, !map_app.
      apply sub_app; [assumption|now apply IH].
    - destruct (more_by_tick ps b (own s ps a) k ts m m' eq_refl Wf Wf' Tu C P) as (V & X & Y).
      destruct (by_tick s ps _ _ _ _ m), (by_tick s' ps _ _ _ _ m'); cbn [fst snd] in *; rewrite !map_app.
      apply sub_app; [assumption|now apply IH].
  Qed.
End Refinement.
