(** What a window shows (docs/firings.md, REP-16): discarding panes of a window are the accumulating one, put together. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Choices Firings.
Import ListNotations.
Open Scope Z_scope.

(** A semantics with other panes. *)
Definition with_panes (v : Panes) (f : Firings) : Firings :=
  {| reported_windows := reported_windows f; exact_gap := exact_gap f; expired_session := expired_session f;
     session_border := session_border f; early_count := early_count f; early_period := early_period f; panes := v;
     late_for := late_for f; watermark_of := watermark_of f; watermark_delay := watermark_delay f;
     expiry_rule := expiry_rule f; clock := clock f |}.
Definition content_of (r : Report * bool) : Content := hd [] (holding (fst r)).
Definition label (r : Report * bool) := (at_instant (fst r), arrival (fst r), shown (fst r), snd r).
Definition same_borders (xs ys : list (option (Z * Z))) : bool :=
  match xs, ys with [Some (a, b)], [Some (c, d)] => (a =? c) && (b =? d) | _, _ => false end.
(** The contents of the reports of a window, one after the other. *)
Definition together (rs : list (Report * bool)) (window : list (option (Z * Z))) : Content :=
  flat_map content_of (filter (fun r => same_borders (shown (fst r)) window) rs).
(** [before]: the discarding reports that came before these. *)
Fixpoint add_up (before accumulating discarding : list (Report * bool)) : Prop :=
  match accumulating, discarding with
  | [], [] => True
  | r :: rest, d :: rest' =>
      label r = label d /\ content_of r = together (before ++ [d]) (shown (fst r)) /\ add_up (before ++ [d]) rest rest'
  | _, _ => False
  end.
Lemma add_up_app xs : forall before ys xs' ys', add_up before xs xs' -> add_up (before ++ xs') ys ys' ->
  add_up before (xs ++ ys) (xs' ++ ys').
Proof.
  induction xs as [|x xs IH]; intros before ys [|x' xs'] ys'; cbn; try easy; [now rewrite app_nil_r|].
  intros (L & C & A) B; repeat split; [assumption|assumption|]; apply IH; [assumption|now rewrite <- app_assoc].
Qed.
Lemma together_app xs ys b : together (xs ++ ys) b = together xs b ++ together ys b.
Proof. unfold together; now rewrite filter_app, flat_map_app. Qed.
Lemma each_after_app xs : forall before ys, each_after before (xs ++ ys) = each_after before xs ++ each_after (before ++ xs) ys.
Proof.
  induction xs as [|x xs IH]; intros before ys; cbn; [now rewrite app_nil_r|]; now rewrite IH, <- app_assoc.
Qed.
Lemma each_after_in before es b e : In (b, e) (each_after before es) -> In e es.
Proof. revert before; induction es as [|x es IH]; cbn; [easy|]; intros before [[= _ ->]|H]; [now left|right; now apply IH in H]. Qed.

Section Panes.
  Variables (s : Semantics) (f : Firings) (p : Placed) (o : Z).
  Let w := win p.
  Hypothesis time : kind w = Time.
  Hypothesis slides : 0 < slide s w.
  Hypothesis for_window : late_for f = ForWindow.
  Hypothesis any : non_empty s = false.
  Let acc := with_panes Accumulating f.
  Let disc := with_panes Discarding f.
  Let borders_of n : list (option (Z * Z)) := [Some (o + n * slide s w, o + n * slide s w + span w)].
  Lemma one_number n n' : same_borders (borders_of n) (borders_of n') = (n =? n').
  Proof. cbn; destruct (n =? n') eqn:E; [apply Z.eqb_eq in E; subst; lia|]; apply Z.eqb_neq in E; nia. Qed.

  (** The window's elements, with those before each. *)
  Let seen xs ys := filter (fun x => (stream (snd x) =? on w) && true) (each_after xs ys).
  Section At.
    Variable before : list Element.
    Hypothesis named : NoDup (map sys before).
    Let holds n es := held (numbered s f p o (seen [] es) n).
    Definition new_of n xs ys : Content :=
      map snd (filter (fun x => (app (snd x) <=? last_instant s p o n) && (clipped_first s p o n <=? until (snd x)) &&
                                negb (has_expired s f (fst x) (last_instant s p o n))) (seen xs ys)).
    Lemma holds_more n xs ys : holds n (xs ++ ys) = holds n xs ++ new_of n xs ys.
    Proof. unfold holds, new_of, numbered, seen; cbn [held]; now rewrite each_after_app, !filter_app, map_app. Qed.
    Lemma in_new n xs ys e : In e (new_of n xs ys) -> In e ys.
    Proof. unfold new_of; intros H; apply in_map_iff in H as ([b x] & <- & H); apply filter_In in H as [H _]; apply filter_In in H as [H _]; now apply each_after_in in H. Qed.
    Lemma is_in_self c e : In e c -> is_in c e = true.
    Proof. intros H; apply existsb_exists; exists e; split; [assumption|apply Z.eqb_refl]. Qed.
    Lemma others_not_in xs ys e : before = xs ++ ys -> In e ys -> forall c, incl c xs -> is_in c e = false.
    Proof.
      intros E He c I; apply not_true_iff_false; intros H; apply existsb_exists in H as (x & Hx & Q); apply Z.eqb_eq in Q.
      rewrite E, map_app in named; apply I in Hx; apply List.in_split in He as (a & b & ->).
      rewrite map_app in named; cbn in named; rewrite app_assoc in named; apply NoDup_remove_2 in named.
      apply named; rewrite <- Q, <- app_assoc; apply in_app_iff; left; now apply in_map.
    Qed.
    Lemma holds_of n es : incl (holds n es) es.
    Proof.
      unfold holds, numbered; cbn [held]; intros e H; apply in_map_iff in H as ([b x] & <- & H).
      apply filter_In in H as [H _]; apply filter_In in H as [H _]; now apply each_after_in in H.
    Qed.

    (** What windows showed last, and the discarding reports up to here. *)
    Definition mine (n : Z) (m : list Held) : list Held := filter (fun one => same_number (number one) (Some n)) m.
    Definition remembers (m : list Held) (past : list (Report * bool)) : Prop :=
      forall n, (mine n m = [] /\ together past (borders_of n) = []) \/
        exists one xs ys, mine n m = [one] /\ held one = together past (borders_of n) /\
                          before = xs ++ ys /\ held one = holds n xs.
    Variables (a : Arrival) (k : Z).
    Lemma same_firing t late m h : is_reported s acc p o a t late m h = is_reported s disc p o a t late m h.
    Proof. unfold is_reported, all_hold, is_early, closes_window; rewrite any; cbn [negb orb]; reflexivity. Qed.
    Lemma is_of_same m past n : remembers m past -> let h := numbered s f p o (seen [] before) n in
      filter (is_of h) m = mine n m.
    Proof.
      intros R h; apply filter_ext_in; intros one I; unfold is_of, h; cbn [number numbered].
      destruct (same_number (number one) (Some n)) eqn:N; [cbn [andb]|reflexivity].
      assert (M : In one (mine n m)) by (apply filter_In; now split).
      destruct (R n) as [[E _]|(x & xs & ys & E & _ & B & H)]; rewrite E in M; [easy|]; destruct M as [->|[]].
      rewrite H; apply forallb_forall; intros e He; fold (holds n before); rewrite B, holds_more.
      apply is_in_self, in_app_iff; now left.
    Qed.
    Lemma shows t m past n : remembers m past -> let h := numbered s f p o (seen [] before) n in
      exists m' r d, show acc t k m h = ([r], m') /\ show disc t k m h = ([d], m') /\
        add_up past [r] [d] /\ remembers m' (past ++ [d]).
    Proof.
      intros R h; pose proof (is_of_same m past n R) as F; cbv zeta in F; fold h in F.
      assert (Sh : shown_of m h = mine n m).
      { unfold shown_of; rewrite F; destruct (R n) as [[-> _]|(x & xs & ys & -> & _)]; reflexivity. }
      assert (No : forall v, (v = Accumulating \/ v = Discarding) ->
         filter (fun one => takes_back (with_panes v f) one h && negb (existsb (fun c => forallb (is_in c) (held one)) (joined_after_expiry h))) (shown_of m h) = []).
      { intros v V; apply filter_none; intros; destruct V as [-> | ->]; reflexivity. }
      assert (Sb : same_borders (borders_of n) (borders_of n) = true) by (rewrite one_number; lia).
      (* the pane is what came since *)
      assert (P : held h = together past (borders_of n) ++ pane disc m h).
      { unfold pane; cbn [panes disc with_panes]; unfold shown_content; rewrite Sh.
        destruct (R n) as [[E T]|(one & xs & ys & E & T & B & H)]; rewrite E, T || rewrite E; cbn [flat_map List.app].
        - symmetry; apply filter_all; intros e He; apply negb_true_iff, not_true_iff_false; intros Q.
          apply existsb_exists in Q as (x & Hx & _); apply filter_In in Hx as [_ Hx]; discriminate.
        - rewrite app_nil_r, <- T, H; set (sc := still_there (held h) (holds n xs)).
          assert (Hh : held h = holds n xs ++ new_of n xs ys) by (change (held h) with (holds n before); rewrite B; apply holds_more).
          rewrite Hh, filter_app, filter_none, filter_all; [reflexivity| |].
          + intros e He; apply negb_true_iff, not_true_iff_false; intros Q.
            apply existsb_exists in Q as (x & Hx & Q); apply filter_In in Hx as [_ Hx].
            apply existsb_exists in Hx as (i & Hi & E2); apply in_map_iff in Hi as (y & <- & Hy).
            enough (C : is_in (holds n xs) e = true)
              by (rewrite (others_not_in xs ys e B (in_new n xs ys e He) (holds n xs) (holds_of n xs)) in C; discriminate).
            apply existsb_exists; exists y; split; [assumption|lia].
          + intros e He; apply negb_false_iff, is_in_self, filter_In; split; [rewrite Hh; apply in_app_iff; now left|].
            apply existsb_exists; exists (sys e); split; [now apply in_map|lia]. }
      set (d := (as_report t k h (pane disc m h), false)).
      assert (To : forall i, together (past ++ [d]) (borders_of i) = together past (borders_of i) ++ (if n =? i then pane disc m h else [])).
      { intros i; rewrite together_app; f_equal; unfold together; cbn [filter].
        change (same_borders (shown (fst d)) (borders_of i)) with (same_borders (borders_of n) (borders_of i)).
        rewrite one_number; destruct (n =? i); [cbn; apply app_nil_r|reflexivity]. }
      exists (filter (fun one => negb (is_of h one)) m ++ [h]), (as_report t k h (held h), false), d.
      split; [|split; [|split]].
      - unfold show, acc; cbv zeta; rewrite (No Accumulating) by (now left); reflexivity.
      - unfold show, disc; cbv zeta; rewrite (No Discarding) by (now right); reflexivity.
      - cbn [add_up]; repeat split.
        change (shown (fst (as_report t k h (held h), false))) with (borders_of n); rewrite To, Z.eqb_refl; exact P.
      - intros i; rewrite To; unfold mine at 1 2; rewrite filter_app; cbn [filter].
        change (same_number (number h) (Some i)) with (n =? i).
        assert (Fi : filter (fun one => same_number (number one) (Some i)) (filter (fun one => negb (is_of h one)) m) =
                     if n =? i then [] else mine i m).
        { destruct (n =? i) eqn:Q.
          - apply Z.eqb_eq in Q; subst i; apply filter_none; intros one I; apply filter_In in I as [I N].
            apply not_true_iff_false; intros S; enough (is_of h one = true) by (rewrite H in N; discriminate).
            assert (M : In one (filter (is_of h) m)) by (rewrite F; apply filter_In; now split).
            now apply filter_In in M.
          - unfold mine; clear - Q; induction m as [|x xs IH]; cbn; [reflexivity|].
            destruct (is_of h x) eqn:Ix; cbn; [|destruct (same_number (number x) (Some i)); now rewrite IH].
            rewrite IH; destruct (same_number (number x) (Some i)) eqn:S; [exfalso|reflexivity].
            unfold is_of in Ix; apply andb_true_iff in Ix as [Ix _]; unfold h in Ix; cbn [number numbered] in Ix.
            destruct (number x); cbn in *; lia. }
        rewrite Fi; destruct (n =? i) eqn:Q.
        + apply Z.eqb_eq in Q; subst i; right; exists h, before, []; repeat split; [assumption|now rewrite app_nil_r].
        + rewrite !app_nil_r; exact (R i).
    Qed.

    Variables (old : list Element) (first : Z).
    Let visit v t (state : list (Report * bool) * list Held) h :=
      let (rs, m) := state in
      let late := (t =? first) && (held_last h <? first) && existsb (fun e => negb (is_in old e)) (held h) in
      if is_reported s (with_panes v f) p o a t late m h
      then let (new, m') := show (with_panes v f) t k m h in (rs ++ new, m') else state.
    Definition in_step (past : list (Report * bool)) (x y : list (Report * bool) * list Held) : Prop :=
      snd x = snd y /\ add_up past (fst x) (fst y) /\ remembers (snd x) (past ++ fst y).
    Lemma one_window_in_step past t x y n : in_step past x y ->
      in_step past (visit Accumulating t x (numbered s f p o (seen [] before) n)) (visit Discarding t y (numbered s f p o (seen [] before) n)).
    Proof.
      destruct x as [xs m], y as [ys m']; intros (E & A & R); cbn [fst snd] in *; subst m'; unfold visit; cbv zeta.
      set (h := numbered s f p o (seen [] before) n); fold acc disc; rewrite same_firing.
      destruct (is_reported s disc p o a t _ m h); [|repeat split; assumption].
      destruct (shows t m (past ++ ys) n R) as (m' & r & d & Sa & Sd & Ad & R'); fold h in Sa, Sd; rewrite Sa, Sd.
      repeat split; cbn [fst snd]; [now apply add_up_app|now rewrite app_assoc].
    Qed.
    Lemma instants_in_step past ts : forall x y, in_step past x y ->
      in_step past (fold_left (fun state t => fold_left (visit Accumulating t) (windows_at s acc p o t before) state) ts x)
                   (fold_left (fun state t => fold_left (visit Discarding t) (windows_at s disc p o t before) state) ts y).
    Proof.
      induction ts as [|t ts IH]; intros x y H; cbn [fold_left]; [exact H|]; apply IH.
      assert (W : forall v, windows_at s (with_panes v f) p o t before = map (numbered s f p o (seen [] before))
                    (upto (least s w) ((t + watermark_delay f - first_instant s p o 0) / slide s w + 1))).
      { intros v; unfold windows_at, seen_at, newest; fold w; rewrite time; cbn [late_for with_panes watermark_delay]; rewrite for_window; reflexivity. }
      unfold acc, disc; rewrite !W; set (ns := upto _ _); clearbody ns; revert x y H.
      induction ns as [|n ns IHn]; intros x y H; cbn [map fold_left]; [exact H|]; apply IHn; now apply one_window_in_step.
    Qed.
  End At.

  Definition elements_in : list Arrival -> list Element :=
    flat_map (fun a => match element a with Some e => [e] | None => [] end).
  Lemma nodup_front {A} (xs ys : list A) : NoDup (xs ++ ys) -> NoDup xs.
  Proof.
    induction xs as [|x xs IH]; cbn; intros N; [constructor|]; inversion N; subst; constructor; [|now apply IH].
    intros I; apply H1, in_app_iff; now left.
  Qed.
  Lemma remembers_more before m past xs : remembers before m past -> remembers (before ++ xs) m past.
  Proof.
    intros R n; destruct (R n) as [?|(one & ys & zs & M & H & B & Ho)]; [now left|right].
    exists one, ys, (zs ++ xs); repeat split; try assumption; now rewrite B, <- app_assoc.
  Qed.
  Lemma runs_in_step start arrivals : forall old before l m past k, NoDup (map sys (before ++ elements_in arrivals)) ->
    remembers before m past ->
    add_up past (run_alone s acc p o start old before l m k arrivals) (run_alone s disc p o start old before l m k arrivals).
  Proof.
    induction arrivals as [|a rest IH]; intros old before l m past k N R; cbn [run_alone]; [exact I|].
    change (at_watermark disc start before a) with (at_watermark acc start before a).
    set (before' := match element a with Some e => before ++ [e] | None => before end).
    assert (B : before' = before ++ elements_in [a])
      by (unfold before', elements_in; cbn; destruct (element a); cbn; now rewrite ?app_nil_r).
    assert (N' : NoDup (map sys (before' ++ elements_in rest))).
    { rewrite B, <- app_assoc; unfold elements_in in *; now rewrite <- flat_map_app. }
    destruct (is_due s l (at_watermark acc start before a)).
    - set (now := at_watermark acc start before a); set (ts := interval _ _ _ _ _).
      assert (S : in_step before past (fired s acc p o old before now k ts m) (fired s disc p o old before now k ts m)).
      { apply instants_in_step.
        - rewrite map_app in N; now apply nodup_front in N.
        - split; [reflexivity|split; [exact I|]]; cbn; now rewrite app_nil_r. }
      destruct (fired s acc p o old before now k ts m) as [rs m1], (fired s disc p o old before now k ts m) as [rs' m2].
      destruct S as (E & A & R'); cbn [fst snd] in *; subst m2; apply add_up_app; [assumption|].
      apply IH; [assumption|]; rewrite B; now apply remembers_more.
    - apply IH; [assumption|]; rewrite B; now apply remembers_more.
  Qed.
End Panes.

(** REP-16: with each accumulating report there is a discarding one, of the same instant, arrival and borders; and what
    the window has shown in discarding reports up to there, put together, is what the accumulating report shows.
    Without non-empty, which asks for a new element under [Discarding] (REP-16). *)
Theorem discarding_panes_add_up s f q es arrivals w :
  windows q = [w] -> kind w = Time -> 0 < slide s w -> late_for f = ForWindow -> non_empty s = false ->
  reported_windows f = Every -> NoDup (map sys (elements_in arrivals)) -> (* MOD-1 *)
  add_up [] (reports_among s (with_panes Accumulating f) q es arrivals)
            (reports_among s (with_panes Discarding f) q es arrivals).
Proof.
  intros W K S F N E D; unfold reports_among; rewrite W; cbn [map]; cbn [reported_windows with_panes]; rewrite E.
  change (place_among s q es w) with (place_among s q es w); set (p := place_among s q es w).
  destruct (starts s [p]) as [|start ?]; [exact I|].
  apply (runs_in_step s f p (match origin p with Some o => o | None => 0 end) K S F N); [exact D|]; intros n; left; split; reflexivity.
Qed.
