(** Two semantics that decide alike report alike.  This carries most of "What no stream can tell apart". *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions.
Import ListNotations.
Open Scope Z_scope.

(** * Two values of a field, "other values being equal" *)

Inductive Field := T0_ | Closure_ | Slide_ | Partial_ | NotBefore_ | Close_ | Change_ | NonEmpty_ | Periodic_ | CloseRule_
  | Baseline_ | ChangeScope_ | ExpirySeen_ | Missed_ | Tick_ | Trigger_ | Collection_ | Consumption_ | R2S_
  | Base_ | Empty_ | Horizon_ | Instant_ | Lateness_.
Scheme Equality for Field.

Definition same {A} (named : list Field) (x : Field) (value : Semantics -> A) (s s' : Semantics) : Prop :=
  if existsb (Field_beq x) named then True else value s = value s'.
(** Two semantics have the same value of every field but of those that are named. *)
Definition differ_only_in (named : list Field) (s s' : Semantics) : Prop :=
  same named T0_ t0 s s' /\ same named Closure_ closure s s' /\ same named Slide_ slide_choice s s' /\
  same named Partial_ partial s s' /\ same named NotBefore_ not_before s s' /\ same named Close_ window_close s s' /\
  same named Change_ content_change s s' /\ same named NonEmpty_ non_empty s s' /\
  same named Periodic_ periodic s s' /\ same named CloseRule_ close_rule s s' /\
  same named Baseline_ baseline s s' /\ same named ChangeScope_ change_scope s s' /\
  same named ExpirySeen_ expiry_seen s s' /\ same named Missed_ missed s s' /\ same named Tick_ tick s s' /\
  same named Trigger_ trigger s s' /\ same named Collection_ collection s s' /\
  same named Consumption_ consumption s s' /\ same named R2S_ r2s s s' /\ same named Base_ base s s' /\
  same named Empty_ empty s s' /\ same named Horizon_ horizon s s' /\ same named Instant_ instant s s' /\
  same named Lateness_ lateness s s'.
(** What is equal becomes one and the same. *)
Ltac equate H :=
  match type of H with differ_only_in _ ?s ?s' => destruct s, s' end;
  unfold differ_only_in, same in H; cbn in H;
  decompose [and] H; clear H; subst;
  cbn [t0 closure slide_choice partial not_before window_close content_change non_empty periodic close_rule baseline
       change_scope expiry_seen missed tick trigger collection consumption r2s base empty horizon instant
       lateness] in *.

(** What is compared of a report: its instant, its arrival, and the contents. *)
Definition seen (r : Report) : Z * Z * list Content := (at_instant r, arrival r, holding r).

(** * Two semantics, and two lists of windows, that decide alike *)

Section Alike.
  Variables (s s' : Semantics) (ps ps' : list Placed) (P : Element -> Prop) (tuples : bool).
  Definition alike (p p' : Placed) : Prop :=
    triggers (win p) = triggers (win p') /\
    (forall t before, Forall P before -> content s p t before = content s' p' t before) /\
    (forall o t before c, Forall P before ->
      timely s o t p && worthy s t before p c = timely s' o t p' && worthy s' t before p' c) /\
    (tuples = true ->
      (forall o t, timely s o t p = timely s' o t p') /\
      forall t before c, Forall P before -> worthy s t before p c = worthy s' t before p' c).
  Hypothesis windows_alike : Forall2 alike ps ps'.
  Let related (x y : Window * bool) := triggers (fst x) = triggers (fst y) /\ snd x = snd y.
  Hypothesis same_fires : forall xs ys,
    Forall2 related xs ys -> (length xs <= length ps)%nat -> fires s xs = fires s' ys.
  Hypothesis same_missed : missed s = missed s'.
  Hypothesis same_baseline : baseline s = baseline s'.
  Hypothesis same_first : first_is_tuple ps = tuples /\ first_is_tuple ps' = tuples.
  Hypothesis same_own : forall a, own s ps a = own s' ps' a.
  Definition same_interval (a : Arrival) : Prop :=
    forall start since, interval s ps start since (own s ps a) = interval s' ps' start since (own s' ps' a).
  (** Both look at the same arrivals. *)
  Fixpoint same_dues (l : Looked) (arrivals : list Arrival) : Prop :=
    match arrivals with
    | [] => True
    | a :: rest => is_due s l a = is_due s' l a /\
        same_dues (if is_due s l a then {| looked_app := at_ a; looked_batch := a_batch a;
                                           looked_own := own s ps a |} else l) rest
    end.

  Lemma same_contents t before : Forall P before -> contents s ps t before = contents s' ps' t before.
  Proof.
    intros B; pose proof windows_alike as A; clear - A B.
    unfold contents; induction A as [|p p' qs qs' H F IH]; cbn; [reflexivity|].
    rewrite IH; f_equal; now apply H.
  Qed.
  Lemma same_states (f g : Placed -> Content -> bool) cs :
    (forall p p' c, alike p p' -> f p c = g p' c) ->
    Forall2 related (map (fun x => (win (fst x), f (fst x) (snd x))) (combine ps cs))
                    (map (fun x => (win (fst x), g (fst x) (snd x))) (combine ps' cs)).
  Proof.
    pose proof windows_alike as W; clear - W.
    intros H; revert cs; induction W as [|p p' qs qs' A F IH]; intros [|c cs]; cbn;
      constructor; [|apply IH].
    split; [apply A|now apply H].
  Qed.
  Lemma few_states (f : Placed -> Content -> bool) cs :
    (length (map (fun x => (win (fst x), f (fst x) (snd x))) (combine ps cs)) <= length ps)%nat.
  Proof. rewrite map_length, combine_length; lia. Qed.
  Lemma same_compared m : compared_with s m = compared_with s' m.
  Proof. unfold compared_with; now rewrite same_baseline. Qed.
  Lemma same_visit before o k ts m : Forall P before ->
    map seen (fst (visit s ps before o k ts m)) = map seen (fst (visit s' ps' before o k ts m)) /\
    snd (visit s ps before o k ts m) = snd (visit s' ps' before o k ts m).
  Proof.
    intros B; revert m; induction ts as [|t ts IH]; intros m; cbn [visit]; [split; reflexivity|].
    rewrite <- same_missed, <- (same_contents t before B), <- same_compared.
    rewrite (same_fires _ _ (same_states
      (fun p c => timely s o t p && worthy s t before p c)
      (fun p c => timely s' o t p && worthy s' t before p c) _
      ltac:(intros p p' c (_ & _ & W & _); now apply W)) (few_states _ _)).
    set (ok := fires s' _); cbv zeta.
    match goal with |- context [visit s ps before o k ts ?m1] => specialize (IH m1);
      destruct (visit s ps before o k ts m1), (visit s' ps' before o k ts m1) end.
    cbn in IH; destruct IH as [E ->]; destruct ok; cbn; rewrite E; unfold seen; cbn;
      rewrite ?(same_contents t before B); split; reflexivity.
  Qed.
  Lemma seen_last rs rs' : map seen rs = map seen rs' ->
    match rev rs, rev rs' with r :: _, r' :: _ => seen r = seen r' | [], [] => True | _, _ => False end.
  Proof.
    intros E; apply (f_equal (@rev _)) in E; rewrite <- !map_rev in E.
    destruct (rev rs), (rev rs'); cbn [map] in E; try discriminate; [trivial|congruence].
  Qed.
  Lemma same_by_instant before o k ts m : Forall P before ->
    map seen (fst (by_instant s ps before o k ts m)) = map seen (fst (by_instant s' ps' before o k ts m)) /\
    snd (by_instant s ps before o k ts m) = snd (by_instant s' ps' before o k ts m).
  Proof.
    intros B; unfold by_instant; destruct (same_visit before o k ts m B) as [E M].
    destruct (visit s ps before o k ts m) as [rs m1], (visit s' ps' before o k ts m) as [rs' m2].
    cbn in E, M; subst m2; pose proof (seen_last _ _ E) as L; rewrite same_missed.
    destruct (missed s'); [cbn; split; [assumption|reflexivity]|].
    destruct (rev rs) as [|r ?], (rev rs') as [|r' ?]; try easy.
    cbn; rewrite L; split; [reflexivity|]; now injection L as _ _ ->.
  Qed.
  Lemma same_by_tick before o k ts m : Forall P before -> tuples = true ->
    map seen (fst (by_tick s ps before o k ts m)) = map seen (fst (by_tick s' ps' before o k ts m)) /\
    snd (by_tick s ps before o k ts m) = snd (by_tick s' ps' before o k ts m).
  Proof.
    intros B Tu; unfold by_tick; pose proof (fun t => same_contents t before B) as C; pose proof same_states as S.
    pose proof few_states as Few.
    destruct windows_alike as [|p p' qs qs' A F]; [destruct (rev ts); split; reflexivity|].
    destruct (rev ts) as [|final earlier]; [split; reflexivity|].
    cbv zeta; rewrite <- !same_compared, <- !C.
    assert (M : match earlier with
                | [] => m
                | t :: _ => {| reported := reported m; previous := contents s' (p' :: qs') t before |}
                end = match earlier with
                | [] => m
                | t :: _ => {| reported := reported m; previous := contents s (p :: qs) t before |}
                end) by (destruct earlier; [reflexivity|now rewrite C]).
    rewrite M; clear M; match goal with |- context [combine (p :: qs) ?cs] => set (old := cs) end.
    rewrite (same_fires _ _ (S (worthy s final before) (worthy s' final before) old
      ltac:(intros ? ? ? (_ & _ & _ & W); now apply W)) (Few _ _)).
    set (ok := fires s' _).
    assert (T : filter (fun t => timely s o t p) (final :: earlier) =
                filter (fun t => timely s' o t p') (final :: earlier))
      by (apply filter_ext; intros; now apply A).
    rewrite T; clear T; match goal with |- context [filter ?f (final :: earlier)] =>
      destruct (filter f (final :: earlier)) as [|t ?] end; [split; reflexivity|].
    destruct ok; cbn [fst snd map]; unfold seen, report_at; cbn [at_instant arrival holding];
      rewrite ?C; split; reflexivity.
  Qed.
  Theorem alike_run start before l m k arrivals :
    Forall P before -> Forall (fun a => match element a with Some e => P e | None => True end) arrivals ->
    Forall same_interval arrivals -> same_dues l arrivals ->
    map seen (run s ps start before l m k arrivals) = map seen (run s' ps' start before l m k arrivals).
  Proof.
    revert before l m k; induction arrivals as [|a rest IH]; intros before l m k B PA I D; cbn [run]; [reflexivity|]; destruct D as [D Ds].
    inversion PA as [|? ? Pa Pr]; inversion I as [|? ? Ia Ir]; subst.
    assert (B' : Forall P match element a with Some e => before ++ [e] | None => before end)
      by (destruct (element a); [apply Forall_app; auto|assumption]).
    rewrite <- D; destruct (is_due s l a); [|now apply IH].
    rewrite (proj1 same_first), (proj2 same_first), <- Ia, <- same_own; set (before' := match element a with Some _ => _ | None => _ end) in *.
    set (ts := interval s ps start (looked_own l) (own s ps a)).
    pose proof (eq_refl tuples) as Tu; revert Tu; pattern tuples at 2 3 4; case tuples; intros Tu.
    - destruct (same_by_tick before (own s ps a) k ts m B Tu) as [E M].
      destruct (by_tick s ps _ _ _ _ _), (by_tick s' ps' _ _ _ _ _); cbn in E, M; subst.
      now rewrite !map_app, E, IH.
    - destruct (same_by_instant before (own s ps a) k ts m B) as [E M].
      destruct (by_instant s ps _ _ _ _ _), (by_instant s' ps' _ _ _ _ _); cbn in E, M; subst.
      now rewrite !map_app, E, IH.
  Qed.
  Lemma same_tick_same_dues l arrivals : tick s = tick s' -> same_dues l arrivals.
  Proof.
    intros T; revert l; induction arrivals as [|a rest IH]; intros l; cbn; [trivial|].
    split; [unfold is_due; now rewrite T|apply IH].
  Qed.
End Alike.

Lemma fires_of_same_trigger s s' xs ys :
  trigger s = trigger s' ->
  Forall2 (fun x y : Window * bool => triggers (fst x) = triggers (fst y) /\ snd x = snd y) xs ys ->
  fires s xs = fires s' ys.
Proof.
  intros T F; unfold fires; rewrite T.
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

(** * Queries *)

Section Queries.
  Variables (s s' : Semantics) (q q' : Query) (all : list Element) (P : Element -> Prop) (tuples : bool).
  Let ps := map (place s q all) (windows q).
  Let ps' := map (place s' q' all) (windows q').
  Let s0_of_all := fold_left Z.min (tl (starts s ps)) (hd 0 (starts s ps)).
  Let nothing_looked := {| looked_app := s0_of_all; looked_batch := 0; looked_own := s0_of_all |}.
  (** Where windows, arrivals and s0 are alike, so are the reports. *)
  Theorem alike_reports :
    Forall2 (alike s s' P tuples) ps ps' ->
    (forall xs ys, Forall2 (fun x y : Window * bool => triggers (fst x) = triggers (fst y) /\ snd x = snd y) xs ys ->
      (length xs <= length ps)%nat -> fires s xs = fires s' ys) ->
    missed s = missed s' -> baseline s = baseline s' -> first_is_tuple ps = tuples /\ first_is_tuple ps' = tuples ->
    (forall a, own s ps a = own s' ps' a) ->
    starts s ps = starts s' ps' -> arrivals_of s q all = arrivals_of s' q' all ->
    Forall (fun a => match element a with Some e => P e | None => True end) (arrivals_of s q all) ->
    Forall (same_interval s s' ps ps') (arrivals_of s q all) ->
    same_dues s s' ps nothing_looked (arrivals_of s q all) ->
    map seen (reports s q all) = map seen (reports s' q' all).
  Proof.
    intros W F M B T O S A PA I D; unfold reports; fold ps ps'; rewrite <- S, <- A.
    unfold nothing_looked, s0_of_all in D; destruct (starts s ps) as [|x xs]; [reflexivity|]; cbn in D.
    assert (L : map (fun _ : Placed => [] : Content) ps = map (fun _ => []) ps')
      by (clear - W; clearbody ps ps'; induction W; cbn; f_equal; auto).
    rewrite <- L; eapply alike_run with (P := P) (tuples := tuples); try eassumption; constructor.
  Qed.
End Queries.
