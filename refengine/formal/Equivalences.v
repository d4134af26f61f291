(** "What no stream can tell apart" (SPEC.md): the entries that say that two values make the same
    comparisons.  Each theorem has the entry's sentence. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows R2S.
Import ListNotations.
Open Scope Z_scope.

(** What the entries compare of a report: its instant, its arrival, and the contents. *)
Definition seen (r : Report) : Z * Z * list Content := (at_instant r, arrival r, holding r).

(** * Two semantics that decide alike *)

Section Alike.
  Variables (s s' : Semantics) (ps ps' : list Placed).
  Definition alike (p p' : Placed) : Prop :=
    triggers (win p) = triggers (win p') /\
    (forall o t, timely s o t p = timely s' o t p') /\
    (forall t before c, worthy s t before p c = worthy s' t before p' c) /\
    (forall t before, content s p t before = content s' p' t before).
  Hypothesis windows_alike : Forall2 alike ps ps'.
  Hypothesis same_trigger : trigger s = trigger s'.
  Hypothesis same_missed : missed s = missed s'.
  Hypothesis same_baseline : baseline s = baseline s'.
  Hypothesis same_first : first_is_tuple ps = first_is_tuple ps'.
  Hypothesis same_own : forall a, own s ps a = own s' ps' a.
  Hypothesis same_interval : forall start a b, interval s ps start a b = interval s' ps' start a b.
  Hypothesis same_due : forall l a, is_due s l a = is_due s' l a.

  Lemma same_fires (xs ys : list (Window * bool)) :
    Forall2 (fun x y => triggers (fst x) = triggers (fst y) /\ snd x = snd y) xs ys ->
    fires s xs = fires s' ys.
  Proof.
    intros F; unfold fires; rewrite same_trigger.
    assert (E : forall f g : Window * bool -> bool,
                (forall x y, triggers (fst x) = triggers (fst y) /\ snd x = snd y -> f x = g y) ->
                existsb f xs = existsb g ys /\ forallb f xs = forallb g ys).
    { intros f g H; induction F as [|x y xs ys Hx F IH]; [split; reflexivity|cbn].
      destruct IH as [-> ->]; now rewrite (H x y Hx). }
    destruct (trigger s').
    - now apply E.
    - now apply E.
    - inversion F as [|x y ? ? [_ H]]; [reflexivity|exact H].
    - apply E; intros x y [-> ->]; reflexivity.
  Qed.
  Lemma same_contents t before : contents s ps t before = contents s' ps' t before.
  Proof.
    pose proof windows_alike as A; clear windows_alike same_first same_own same_interval.
    unfold contents; induction A as [|p p' qs qs' H F IH]; cbn; [reflexivity|].
    rewrite IH; f_equal; apply H.
  Qed.
  Lemma same_states (f g : Placed -> Content -> bool) cs :
    (forall p p' c, alike p p' -> f p c = g p' c) ->
    Forall2 (fun x y => triggers (fst x) = triggers (fst y) /\ snd x = snd y)
      (map (fun x => (win (fst x), f (fst x) (snd x))) (combine ps cs))
      (map (fun x => (win (fst x), g (fst x) (snd x))) (combine ps' cs)).
  Proof.
    pose proof windows_alike as W; clear windows_alike same_first same_own same_interval.
    intros H; revert cs; induction W as [|p p' qs qs' A F IH]; intros [|c cs]; cbn;
      constructor; [|apply IH].
    split; [apply A|now apply H].
  Qed.
  Lemma same_compared m : compared_with s m = compared_with s' m.
  Proof. unfold compared_with; now rewrite same_baseline. Qed.
  Lemma same_visit before o k ts m :
    map seen (fst (visit s ps before o k ts m)) = map seen (fst (visit s' ps' before o k ts m)) /\
    snd (visit s ps before o k ts m) = snd (visit s' ps' before o k ts m).
  Proof.
    revert m; induction ts as [|t ts IH]; intros m; cbn [visit]; [split; reflexivity|].
    rewrite same_missed, same_contents, same_compared.
    rewrite (same_fires _ _ (same_states
      (fun p c => timely s o t p && worthy s t before p c)
      (fun p c => timely s' o t p && worthy s' t before p c) _
      ltac:(intros p p' c (_ & T & W & _); now rewrite T, W))).
    set (ok := fires s' _); cbv zeta.
    match goal with |- context [visit s ps before o k ts ?m1] => specialize (IH m1);
      destruct (visit s ps before o k ts m1), (visit s' ps' before o k ts m1) end.
    cbn in IH; destruct IH as [E ->]; destruct ok; cbn; rewrite E; unfold seen; cbn;
      rewrite ?same_contents; split; reflexivity.
  Qed.
  Lemma seen_last rs rs' : map seen rs = map seen rs' ->
    match rev rs, rev rs' with r :: _, r' :: _ => seen r = seen r' | [], [] => True | _, _ => False end.
  Proof.
    intros E; apply (f_equal (@rev _)) in E; rewrite <- !map_rev in E.
    destruct (rev rs), (rev rs'); cbn [map] in E; try discriminate; [trivial|congruence].
  Qed.
  Lemma same_by_instant before o k ts m :
    map seen (fst (by_instant s ps before o k ts m)) = map seen (fst (by_instant s' ps' before o k ts m)) /\
    snd (by_instant s ps before o k ts m) = snd (by_instant s' ps' before o k ts m).
  Proof.
    unfold by_instant; destruct (same_visit before o k ts m) as [E M].
    destruct (visit s ps before o k ts m) as [rs m1], (visit s' ps' before o k ts m) as [rs' m2].
    cbn in E, M; subst m2; pose proof (seen_last _ _ E) as L; rewrite same_missed.
    destruct (missed s'); [cbn; split; [assumption|reflexivity]|].
    destruct (rev rs) as [|r ?], (rev rs') as [|r' ?]; try easy.
    cbn; rewrite L; split; [reflexivity|]; now injection L as _ _ ->.
  Qed.
  Lemma same_by_tick before o k ts m :
    map seen (fst (by_tick s ps before o k ts m)) = map seen (fst (by_tick s' ps' before o k ts m)) /\
    snd (by_tick s ps before o k ts m) = snd (by_tick s' ps' before o k ts m).
  Proof.
    unfold by_tick; pose proof same_contents as C; pose proof same_states as S.
    destruct windows_alike as [|p p' qs qs' A F]; [destruct (rev ts); split; reflexivity|].
    destruct (rev ts) as [|final earlier]; [split; reflexivity|].
    cbv zeta; rewrite !same_compared.
    assert (M : match earlier with
                | [] => m
                | t :: _ => {| reported := reported m; previous := contents s (p :: qs) t before |}
                end = match earlier with
                | [] => m
                | t :: _ => {| reported := reported m; previous := contents s' (p' :: qs') t before |}
                end) by (destruct earlier; [reflexivity|now rewrite C]).
    rewrite M; clear M; match goal with |- context [combine (p :: qs) ?cs] => set (old := cs) end.
    rewrite (same_fires _ _ (S (worthy s final before) (worthy s' final before) old
      ltac:(intros ? ? ? (_ & _ & W & _); apply W))).
    set (ok := fires s' _).
    assert (T : filter (fun t => timely s o t p) (final :: earlier) =
                filter (fun t => timely s' o t p') (final :: earlier))
      by (apply filter_ext; intros; apply A).
    rewrite T; clear T; match goal with |- context [filter ?f (final :: earlier)] =>
      destruct (filter f (final :: earlier)) as [|t ?] end; [rewrite C; split; reflexivity|].
    destruct ok; cbn [fst snd map]; unfold seen, report_at; cbn [at_instant arrival holding];
      rewrite ?C; split; reflexivity.
  Qed.
  Theorem alike_run start before l m k arrivals :
    map seen (run s ps start before l m k arrivals) = map seen (run s' ps' start before l m k arrivals).
  Proof.
    revert before l m k; induction arrivals as [|a rest IH]; intros; cbn [run]; [reflexivity|].
    rewrite same_due; destruct (is_due s' l a); [|apply IH].
    rewrite same_own, same_interval, same_first; set (before' := match element a with Some _ => _ | None => _ end).
    set (ts := interval s' ps' start (looked_own l) (own s' ps' a)).
    pose proof same_by_tick as T; pose proof same_by_instant as I; destruct (first_is_tuple ps').
    - destruct (T before (own s' ps' a) k ts m) as [E M].
      destruct (by_tick s ps _ _ _ _ _), (by_tick s' ps' _ _ _ _ _); cbn in E, M; subst.
      now rewrite !map_app, E, IH.
    - destruct (I before (own s' ps' a) k ts m) as [E M].
      destruct (by_instant s ps _ _ _ _ _), (by_instant s' ps' _ _ _ _ _); cbn in E, M; subst.
      now rewrite !map_app, E, IH.
  Qed.
End Alike.
