(** "What no stream can tell apart" (docs/laws.md): t0 and t0 − β, of one window of the kind [time] over points. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices OneWindow Single Ticks.
Import ListNotations.
Open Scope Z_scope.

(** * Two machines of which one begins earlier, and sees nothing until the other begins *)

Section Earlier.
  Variables (s : Semantics) (p p' : Placed) (S0 S' S gone : Z).
  (* s0 of both; an instant up to which nothing is seen; the last instant of window −1 *)
  Variables (M V : Machine).
  Variable inside : Element -> Prop.
  Hypothesis begins_earlier : S' <= S0 <= S.
  Hypothesis instants_of_M : forall a b, instants M a b = interval s [p] S0 a b.
  Hypothesis instants_of_V : forall a b, instants V a b = interval s [p'] S' a b.
  Hypothesis looks_of_M : forall l a, looks M l a = is_due s l a.
  Hypothesis looks_of_V : forall l a, looks V l a = is_due s l a.
  Hypothesis same_owns : forall a, owns V a = owns M a.
  Hypothesis same_compares : forall a b, compares V a b = compares M a b.
  Hypothesis same_gap : gap V = gap M.
  Hypothesis same_holds : forall t b, Forall inside b -> holds V t b = holds M t b.
  Hypothesis same_meets : forall o t b c, Forall inside b -> meets_all V o t b c = meets_all M o t b c.
  Hypothesis nothing_held : forall t b, Forall inside b -> t <= S -> holds M t b = [].
  Hypothesis nothing_met : forall o t b c, Forall inside b -> t <= S -> meets_all M o t b c = false.
  Hypothesis same_moves : forall t, S <= t - 1 -> t <> gone + 1 -> moves s [p'] t = moves s [p] t.
  Hypothesis own_is_at : forall a, owns M a <= at_ a.
  Hypothesis own_grows : forall a b, at_ a <= at_ b -> owns M a <= owns M b.
  Let undisturbed (now : Z) := expiry_seen s = Eager -> now <> gone + 1.

  Lemma looked_alike b o ts la pr : Forall inside b -> look V b o ts la pr = look M b o ts la pr.
  Proof.
    intros F; revert la pr; induction ts as [|t ts IH]; intros la pr; cbn [look]; [reflexivity|].
    now rewrite same_meets, same_holds, same_compares, same_gap, IH by assumption.
  Qed.
  Lemma looked_at_nothing b o xs ts : Forall inside b -> (forall t, In t xs -> t <= S) ->
    look M b o (xs ++ ts) [] [] = look M b o ts [] [].
  Proof.
    intros F N; induction xs as [|t xs IH]; cbn [look List.app]; [reflexivity|].
    assert (T : t <= S) by (apply N; now left); rewrite (nothing_met o t b _ F T), (nothing_held t b F T).
    replace (match gap M with All => false | Latest => false end) with false by now destruct (gap M).
    rewrite IH by (intros; apply N; now right); now destruct (look M b o ts [] []).
  Qed.
  (** The instants from s0 + 1 on are the same for both, and those up to s0 come first. *)
  Definition late_part (ps : list Placed) since now : list Z :=
    upto (Z.max since (S + 1)) now ++
    (if (S <? now) && ((since =? now) || match expiry_seen s with Replayed => false | Eager => (since <? now) && moves s ps now end)
     then [now] else []).
  Lemma interval_split ps x since now : x <= S ->
    exists xs, interval s ps x since now = xs ++ late_part ps since now /\ forall t, In t xs -> t <= S.
  Proof.
    intros L; unfold interval, late_part; set (b := _ || _).
    destruct (Z_lt_le_dec S now) as [N|N].
    - exists (upto (Z.max x since) (Z.max (Z.max x since) (Z.min now (S + 1)))).
      replace (S <? now) with true by lia; cbn [andb].
      rewrite filter_app, filter_from; split; [|intros t T; apply in_upto in T; lia].
      rewrite app_assoc; f_equal.
      + destruct (Z_le_gt_dec now since).
        * rewrite !upto_nil by lia; reflexivity.
        * replace (Z.max since (S + 1)) with (Z.max (Z.max x since) (Z.min now (S + 1))) by lia.
          rewrite upto_app; [reflexivity|lia].
      + destruct b; cbn; [|reflexivity]; now replace (x <=? now) with true by lia.
    - exists (filter (fun t => x <=? t) (upto since now ++ (if b then [now] else []))).
      replace (S <? now) with false by lia; cbn [andb].
      rewrite (upto_nil (Z.max since (S + 1)) now) by lia; split; [now rewrite !app_nil_r|].
      intros t T; apply filter_In in T as [T _]; apply in_app_iff in T as [T|T]; [apply in_upto in T; lia|].
      destruct b; [destruct T as [<-|[]]; lia|easy].
  Qed.
  Lemma late_part_alike since since' now :
    (since = since' /\ S < since) \/ (since <= S /\ since' <= S) -> undisturbed now ->
    late_part [p] since now = late_part [p'] since' now.
  Proof.
    intros H U; unfold late_part.
    assert (E : Z.max since (S + 1) = Z.max since' (S + 1)) by lia; rewrite E; f_equal.
    destruct (S <? now) eqn:N; [|reflexivity]; apply Z.ltb_lt in N; cbn [andb].
    assert (Q : (since =? now) = (since' =? now)) by lia; assert (L : (since <? now) = (since' <? now)) by lia.
    rewrite Q, L; destruct (expiry_seen s) eqn:X; [reflexivity|]; rewrite (same_moves now) by (try lia; now apply U); reflexivity.
  Qed.
  (** What both runs know: the same, or nothing that matters was looked at yet. *)
  Definition known (l l' : Looked) (la pr : Content) : Prop :=
    (tick s = BatchTick -> looked_batch l = looked_batch l') /\
    ((looked_app l = looked_app l' /\ looked_own l = looked_own l' /\ (looked_own l <= S -> la = [] /\ pr = [])) \/
     (looked_app l' <= looked_app l <= S /\ (tick s = TimeTick -> looked_app l = S0) /\
      looked_own l <= S /\ looked_own l' <= S /\ la = [] /\ pr = [])).
  Lemma known_own l l' la pr : known l l' la pr ->
    (looked_own l = looked_own l' /\ S < looked_own l) \/ (looked_own l <= S /\ looked_own l' <= S /\ la = [] /\ pr = []).
  Proof.
    intros (_ & [(_ & <- & N)|(_ & _ & ? & ? & ?)]); [|now right].
    destruct (Z_lt_le_dec S (looked_own l)); [left|right]; auto.
  Qed.
  Lemma no_early_part ps x zs since now : x <= S -> S < since -> interval s ps x since now = zs ++ late_part ps since now ->
    (forall t, In t zs -> t <= S) -> zs = [].
  Proof.
    intros Lx Ls E Zs; destruct zs as [|z zs]; [reflexivity|exfalso].
    assert (I : In z (interval s ps x since now)) by (rewrite E; now left).
    specialize (Zs z (or_introl eq_refl)); apply interval_in in I; lia.
  Qed.
  Lemma looks_alike b o l l' la pr now : Forall inside b -> known l l' la pr -> undisturbed now ->
    look V b o (instants V (looked_own l') now) la pr = look M b o (instants M (looked_own l) now) la pr /\
    (now <= S -> la = [] -> pr = [] -> look M b o (instants M (looked_own l) now) la pr = ([], ([], []))).
  Proof.
    intros F A U; rewrite instants_of_M, instants_of_V, looked_alike by assumption.
    destruct (interval_split [p] S0 (looked_own l) now) as (xs & Em & Xs); [lia|].
    destruct (interval_split [p'] S' (looked_own l') now) as (ys & Ev & Ys); [lia|].
    assert (L : late_part [p] (looked_own l) now = late_part [p'] (looked_own l') now).
    { apply late_part_alike; [|assumption]; destruct (known_own _ _ _ _ A) as [|(? & ? & _)]; auto. }
    assert (NotLate : now <= S -> late_part [p] (looked_own l) now = []).
    { intros; unfold late_part; rewrite upto_nil by lia; now replace (S <? now) with false by lia. }
    split.
    - destruct (known_own _ _ _ _ A) as [[O Lt]|(_ & _ & -> & ->)].
      + assert (xs = []) by (apply (no_early_part [p] S0 xs (looked_own l) now); auto; lia).
        assert (ys = []) by (apply (no_early_part [p'] S' ys (looked_own l') now); auto; lia).
        subst; rewrite Em, Ev, L; reflexivity.
      + rewrite Em, Ev, !looked_at_nothing, <- L by assumption; reflexivity.
    - intros N -> ->; rewrite Em, looked_at_nothing, NotLate by assumption; reflexivity.
  Qed.
  Theorem earlier_go arrivals : forall b l l' la pr k,
    Forall inside b -> Forall inside (elements_in arrivals) -> Forall (fun a => undisturbed (owns M a)) arrivals ->
    known l l' la pr -> arrive_in_order arrivals ->
    (forall a, In a arrivals -> Z.max S (looked_own l) <= Z.max S (owns M a)) ->
    go V b l' la pr k arrivals = go M b l la pr k arrivals.
  Proof.
    induction arrivals as [|a rest IH]; intros b l l' la pr k F G U A O B; [reflexivity|].
    inversion U as [|? ? Ua Ur]; subst; destruct O as (Oa & _ & O); pose proof (own_is_at a) as Le.
    assert (G' : Forall inside (elements_in rest)) by (unfold elements_in in *; cbn in G; apply Forall_app in G; apply G).
    assert (F' : Forall inside (with_element b a)).
    { unfold with_element, elements_in in *; cbn in G; apply Forall_app in G as [G _]; destruct (element a); [apply Forall_app; split; assumption|assumption]. }
    cbn [go]; rewrite looks_of_M, looks_of_V, same_owns.
    assert (Nm : owns M a <= S -> la = [] /\ pr = []).
    { intros L; specialize (B a (or_introl eq_refl)); destruct (known_own _ _ _ _ A) as [[_ ?]|(_ & _ & ?)]; [lia|assumption]. }
    destruct (looks_alike b (owns M a) l l' la pr (owns M a) F A Ua) as [E N].
    assert (Ar : arrive V b (owns M a) (instants V (looked_own l') (owns M a)) la pr =
                 arrive M b (owns M a) (instants M (looked_own l) (owns M a)) la pr) by (unfold arrive; now rewrite E, same_gap).
    assert (An : owns M a <= S -> arrive M b (owns M a) (instants M (looked_own l) (owns M a)) la pr = ([], ([], []))).
    { intros L; destruct (Nm L) as [-> ->]; unfold arrive; rewrite N by auto; now destruct (gap M). }
    assert (Grow : forall c, In c rest -> Z.max S (owns M a) <= Z.max S (owns M c))
      by (intros c Hc; pose proof (own_grows a c (Oa c Hc)); lia).
    assert (Same_next : next V a = next M a) by (unfold next; now rewrite same_owns).
    destruct (is_due s l' a) eqn:Dv, (is_due s l a) eqn:Dw.
    - rewrite Ar, Same_next; destruct (arrive M b _ _ _ _) as [rs m] eqn:Em; cbn [fst snd]; f_equal; apply IH; auto.
      split; [reflexivity|left; split; [reflexivity|split; [reflexivity|]]]; cbn; intros L; specialize (An L).
      injection An as _ ->; split; reflexivity.
    - assert (T : tick s = TimeTick /\ looked_app l = S0 /\ at_ a <= S0).
      { destruct A as [Ab [(Aa & _)|(? & At & _)]]; unfold is_due in *; destruct (tick s); try discriminate.
        - rewrite Aa in Dw; congruence.
        - rewrite Ab in Dw by reflexivity; congruence.
        - specialize (At eq_refl); apply Z.ltb_ge in Dw; repeat split; lia.
        - rewrite Ab in Dw by reflexivity; congruence. }
      destruct T as (T & La & Ha); assert (L : owns M a <= S) by lia.
      rewrite Ar, An by assumption; destruct (Nm L) as [-> ->]; cbn [map List.app fst snd].
      apply IH; auto; [|intros c Hc; apply B; now right].
      split; [rewrite T; discriminate|right]; cbn; rewrite same_owns; repeat split; auto; try lia.
      destruct (known_own _ _ _ _ A) as [[_ X]|(X & _)]; [specialize (B a (or_introl eq_refl)); lia|assumption].
    - exfalso; destruct A as [Ab [(Aa & _)|(? & At & _)]]; unfold is_due in *; destruct (tick s); try discriminate.
      + rewrite Aa in Dw; congruence.
      + rewrite Ab in Dw by reflexivity; congruence.
      + specialize (At eq_refl); lia.
      + rewrite Ab in Dw by reflexivity; congruence.
    - apply IH; auto; intros c Hc; apply B; now right.
  Qed.
End Earlier.

(** * A window with t0, and with t0 − β *)

Section Origin.
  Variables (s s' : Semantics) (q : Query) (all : list Element) (w : Window) (o h : Z).
  Hypothesis fields : differ_only_in [T0_] s s'.
  Let p := place s q all w.
  Let p' := place s' q all w.
  Let es := arriving s q all.
  Let β := slide s w.
  Let first := first_instant s p o 0.
  Let last := last_instant s p o 0.
  Let x (e : Element) := app e + lag w.
  (** "t0 and t0 − β, where no window before window 0 holds an element, reports of empty contents are not made,
      there is no anchor at t0, and under eager expiry no arrival's own instant is that at which window 0 takes the
      place of window −1." *)
  Hypothesis placed_at : origin p = Some o /\ origin p' = Some (o - β).
  Hypothesis none_before : forall e n, In e es -> n < 0 -> ~ (first + n * β <= x e <= last + n * β).
  Hypothesis not_empty : non_empty s = true.
  Hypothesis no_anchor : match periodic s with Some (_, AnchorT0) => False | _ => True end.
  Hypothesis undisturbed : expiry_seen s = Eager -> forall a, In a (arrivals_of s q all) -> own s [p] a <> last - β + 1.
  Hypothesis one : windows q = [w].
  Hypothesis time : kind w = Time.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w /\ 0 <= lag w.
  Hypothesis fits : closure s = Open -> 2 <= size w. (* QRY-5 *)
  Hypothesis points : forall e, In e all -> until e = app e.
  Hypothesis the_horizon : horizon_of s (windows q) es = Some h.
  Hypothesis later_horizon : forall e, In e es -> app e < h.
  Let inside (e : Element) := until e = app e /\ forall n, n < 0 -> ~ (first + n * β <= x e <= last + n * β).
  Let c_ (t : Z) := ceil_div (t - last) β.
  Let least_ := least s w.
  Lemma c_spec t : t <= last + c_ t * β /\ last + (c_ t - 1) * β < t.
  Proof.
    destruct sizes as (_ & Sl & _); fold β in Sl.
    pose proof (ceil_div_spec (t - last) β (c_ t) Sl) as A; pose proof (ceil_div_spec (t - last) β (c_ t - 1) Sl) as B.
    fold (c_ t) in A, B; lia.
  Qed.
  Lemma first_of n : first_instant s p o n = first + n * β.
  Proof. unfold first, first_instant, β; change (win p) with w; lia. Qed.
  Lemma first_of' n : first_instant s p' (o - β) n = first + (n - 1) * β.
  Proof. unfold first, first_instant, low, β; change (win p) with w; change (win p') with w; lia. Qed.
  Lemma last_of n : last_instant s p o n = last + n * β.
  Proof. unfold last, last_instant, β; change (win p) with w; lia. Qed.
  Lemma last_of' n : last_instant s p' (o - β) n = last + (n - 1) * β.
  Proof. unfold last, last_instant, high, span, β; change (win p) with w; change (win p') with w; lia. Qed.
  Lemma least_facts : least_ <= 0 /\ (least_ < 0 -> first <= last - β).
  Proof.
    destruct sizes as (Sz & Sl & _); fold β in Sl.
    assert (Sp : span w = size w) by (unfold span; now rewrite time).
    assert (C0 : 0 <= cut s w) by (unfold cut; rewrite Sp; destruct (closure s); try (specialize (fits eq_refl)); lia).
    assert (Wd : cut s w <= last - first) by (unfold cut; unfold last, first, last_instant, first_instant, low, high; change (win p) with w; rewrite Sp, time; cbn; destruct (closure s); lia).
    assert (D : 0 <= cut s w / β) by (apply Z.div_pos; lia).
    assert (D2 : β * (cut s w / β) <= cut s w) by (apply Z.mul_div_le; lia).
    unfold least_, least; fold β; destruct (partial s); split; try lia; intros; nia.
  Qed.
  Lemma current_is t : current s p t = if t <? first - 1 then None else Some (Z.max least_ (c_ t)).
  Proof.
    destruct placed_at as [O _]; unfold current; rewrite O; unfold current_at; change (win p) with w; rewrite time; reflexivity.
  Qed.
  Lemma current_is' t : current s p' t = if t <? first - 1 - β then None else Some (Z.max least_ (c_ t + 1)).
  Proof.
    destruct placed_at as [_ O]; unfold current; rewrite O; unfold current_at, s0_at; change (win p') with w; rewrite time.
    rewrite first_of', last_of'; replace (first + (0 - 1) * β - 1) with (first - 1 - β) by lia.
    destruct (t <? first - 1 - β); [reflexivity|]; do 2 f_equal; unfold c_, ceil_div; fold β.
    destruct sizes as (_ & Sl & _); fold β in Sl.
    replace (- (t - (last + (0 - 1) * β))) with (- (t - last) + -1 * β) by lia; rewrite Z.div_add by lia; lia.
  Qed.
  (** What is seen, by both, is in a window from window 0 on, after s0. *)
  Definition sees (t : Z) (e : Element) : bool :=
    (0 <=? c_ t) && (first + c_ t * β <=? x e) && (x e <=? t).
  Lemma held_by_M t b : Forall inside b -> content s p t b = filter (sees t) (filter (fun e => stream e =? on w) b).
  Proof.
    intros F; destruct placed_at as [O _]; unfold content; rewrite O, current_is; change (win p) with w; rewrite time.
    pose proof (c_spec t) as [C1 C2]; destruct least_facts as [L0 L1]; destruct sizes as (_ & Sl & _); fold β in Sl.
    destruct (t <? first - 1) eqn:T.
    - symmetry; apply filter_none; intros e He; unfold sees; destruct (0 <=? c_ t) eqn:Z0; [|reflexivity]; cbn.
      assert (0 <= c_ t * β) by (apply Z.mul_nonneg_nonneg; lia); lia.
    - apply filter_ext_in; intros e He; apply filter_In in He as [He _]; rewrite Forall_forall in F; destruct (F e He) as [Pe Ne].
      unfold meets, begins, ends, clipped_first; change (win p) with w; rewrite time, Pe, !first_of.
      fold (x e); apply eq_true_iff_eq; unfold sees; rewrite !andb_true_iff, !Z.leb_le.
      set (m := Z.max least_ (c_ t)) in *; unfold x in *; split.
      + intros [[A B] _]; assert (Fm : first + m * β <= app e + lag w) by (destruct (partial s); lia).
        assert (Hm : t <= last + m * β) by (assert (c_ t * β <= m * β) by nia; lia).
        assert (0 <= m) by (destruct (Z_lt_le_dec m 0) as [N|]; [exfalso; apply (Ne m N); lia|assumption]).
        assert (Mc : m = c_ t \/ m = 0 /\ c_ t < 0) by lia; destruct Mc as [Mc|[Mc Cn]]; [rewrite <- Mc; lia|exfalso].
        apply (Ne (-1)); [lia|]; assert (c_ t * β <= -1 * β) by nia; lia.
      + intros [[C0 A] B]; assert (Mc : m = c_ t) by lia; rewrite Mc.
        assert (0 <= c_ t * β) by (apply Z.mul_nonneg_nonneg; lia); destruct (partial s); lia.
  Qed.
  Lemma held_by_V t b : Forall inside b -> content s p' t b = filter (sees t) (filter (fun e => stream e =? on w) b).
  Proof.
    intros F; destruct placed_at as [_ O]; unfold content; rewrite O, current_is'; change (win p') with w; rewrite time.
    pose proof (c_spec t) as [C1 C2]; destruct least_facts as [L0 L1]; destruct sizes as (_ & Sl & _); fold β in Sl.
    destruct (t <? first - 1 - β) eqn:T.
    - symmetry; apply filter_none; intros e He; unfold sees; destruct (0 <=? c_ t) eqn:Z0; [|reflexivity]; cbn.
      assert (0 <= c_ t * β) by (apply Z.mul_nonneg_nonneg; lia); lia.
    - apply filter_ext_in; intros e He; apply filter_In in He as [He _]; rewrite Forall_forall in F; destruct (F e He) as [Pe Ne].
      unfold meets, begins, ends, clipped_first; change (win p') with w; rewrite time, Pe, !first_of'.
      fold (x e); apply eq_true_iff_eq; unfold sees; rewrite !andb_true_iff, !Z.leb_le.
      set (m := Z.max least_ (c_ t + 1)) in *; unfold x in *; split.
      + intros [[A B] _]; assert (Fm : first + (m - 1) * β <= app e + lag w) by (destruct (partial s); lia).
        assert (Hm : t <= last + (m - 1) * β) by (assert (c_ t * β <= (m - 1) * β) by nia; lia).
        assert (0 <= m - 1) by (destruct (Z_lt_le_dec (m - 1) 0) as [N|]; [exfalso; apply (Ne (m - 1) N); lia|assumption]).
        assert (Mc : m - 1 = c_ t) by lia; rewrite <- Mc; lia.
      + intros [[C0 A] B]; assert (Mc : m - 1 = c_ t) by lia; rewrite Mc.
        assert (0 <= c_ t * β) by (apply Z.mul_nonneg_nonneg; lia); destruct (partial s); lia.
  Qed.
  Let same_fields : closure s' = closure s /\ slide_choice s' = slide_choice s /\ lateness s' = lateness s /\ partial s' = partial s /\
    close_rule s' = close_rule s /\ expiry_seen s' = expiry_seen s /\ tick s' = tick s /\ missed s' = missed s /\
    trigger s' = trigger s /\ horizon s' = horizon s /\ baseline s' = baseline s /\ periodic s' = periodic s /\ non_empty s' = non_empty s.
  Proof. clear - fields; equate fields; repeat split. Qed.
  Lemma itself_ : same_window s s' p' p'.
  Proof.
    destruct same_fields as (E1 & E2 & E3 & E4 & _); constructor; try reflexivity.
    - unfold slide; now rewrite E2.
    - now left.
    - unfold least, cut, slide; now rewrite E1, E2, E4.
    - destruct (origin p'); [|exact I]; unfold first_instant, last_instant, slide, low, high; now rewrite E1, E2.
  Qed.
  Lemma nothing_seen t b : Forall inside b -> c_ t < 0 \/ t <= first - 1 -> content s p t b = [].
  Proof.
    intros F H; rewrite held_by_M by assumption; apply filter_none; intros e _; unfold sees.
    destruct sizes as (_ & Sl & _); fold β in Sl.
    destruct (0 <=? c_ t) eqn:Z0; [|reflexivity]; cbn; assert (0 <= c_ t * β) by (apply Z.mul_nonneg_nonneg; lia); lia.
  Qed.
  Lemma meets_alike ow t b c : Forall inside b ->
    timely s' ow t p' && worthy s' t b p' c = timely s ow t p && worthy s t b p c.
  Proof.
    intros F; destruct same_fields as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8 & E9 & E10 & E11 & E12 & E13).
    assert (Be : same_beats s s' p' p') by (intros u; unfold is_periodic, border; now rewrite E12, E1).
    assert (Long : differ_only_in [T0_; Closure_; Slide_; Periodic_; CloseRule_; ExpirySeen_; Missed_; Baseline_; Tick_; Trigger_; Collection_;
     Consumption_; R2S_; Base_; Empty_; Horizon_; Instant_; Lateness_] s s') by fewer fields.
    rewrite <- (same_timely s s' Long ltac:(rewrite E12; now destruct (periodic s)) p' p' ow t itself_ Be), <- (same_worthy s s' Long p' p' t b c itself_).
    unfold worthy; rewrite held_by_V, <- held_by_M by assumption.
    destruct (content s p t b) as [|e xs] eqn:Co; [rewrite not_empty; cbn; now rewrite !andb_false_r|].
    assert (In_ : In e (content s p t b)) by (rewrite Co; now left).
    rewrite held_by_M in In_ by assumption; apply filter_In in In_ as [_ Se]; unfold sees in Se.
    pose proof (c_spec t) as [C1 C2]; destruct least_facts as [L0 L1]; destruct sizes as (_ & Sl & _); fold β in Sl.
    assert (C0 : 0 <= c_ t) by lia; assert (0 <= c_ t * β) by (apply Z.mul_nonneg_nonneg; lia).
    assert (Sc : has_scope s p t = true) by (unfold has_scope; rewrite current_is; replace (t <? first - 1) with false by lia; reflexivity).
    assert (Sc' : has_scope s p' t = true) by (unfold has_scope; rewrite current_is'; replace (t <? first - 1 - β) with false by lia; reflexivity).
    rewrite Sc, Sc'; f_equal; unfold timely; rewrite Sc, Sc'.
    assert (Cl : closes_at s p' t = closes_at s p t).
    { destruct placed_at as [O O']; unfold closes_at; rewrite O, O'; change (win p) with w; change (win p') with w; fold β least_.
      rewrite !last_of, !last_of'; replace (t - (last + (0 - 1) * β)) with (t - (last + 0 * β) + 1 * β) by lia.
      rewrite Z.div_add by lia; replace (last + 0 * β) with last by lia; set (n := (t - last) / β).
      replace (last + (n + 1 - 1) * β) with (last + n * β) by lia; destruct (last + n * β =? t) eqn:Eq; [|now rewrite !andb_false_r].
      apply Z.eqb_eq in Eq; assert (n = c_ t) by nia; rewrite !andb_true_r; lia. }
    rewrite Cl; f_equal; destruct (periodic s) as [[l a]|] eqn:P; [|reflexivity]; f_equal; unfold is_periodic; rewrite P.
    destruct a; [reflexivity|easy|].
    assert (T1 : t1 p' = t1 p) by (unfold p, p'; cbn; now rewrite E3); now rewrite T1.
  Qed.
  Let threshold := if least_ <? 0 then Z.max (first - 1) (last + (least_ - 1) * β + 1) else first - 1.
  Lemma below_threshold t : t <= threshold -> c_ t < 0 \/ t <= first - 1.
  Proof.
    pose proof (c_spec t) as [C1 C2]; destruct sizes as (_ & Sl & _); fold β in Sl; unfold threshold.
    destruct (least_ <? 0) eqn:L; [|now right]; intros H.
    destruct (Z_le_gt_dec t (first - 1)); [now right|left].
    assert (T : t <= last + (least_ - 1) * β + 1) by lia; destruct (Z_lt_le_dec (c_ t) 0); [assumption|exfalso].
    assert ((least_ - 1) * β + 1 <= (c_ t - 1) * β) by nia; lia.
  Qed.
  Lemma moves_alike t : threshold <= t - 1 -> t <> last - β + 1 -> moves s [p'] t = moves s [p] t.
  Proof.
    intros Th Ng; unfold moves; cbn [existsb]; change (win p) with w; change (win p') with w; rewrite time, !orb_false_r, !current_is, !current_is'.
    destruct sizes as (_ & Sl & _); fold β in Sl.
    assert (F1 : first - 1 <= t - 1) by (unfold threshold in Th; destruct (least_ <? 0); lia).
    replace (t - 1 <? first - 1) with false by lia; replace (t <? first - 1) with false by lia.
    replace (t - 1 <? first - 1 - β) with false by lia; replace (t <? first - 1 - β) with false by lia.
    cbn [same_number]; f_equal; pose proof (c_spec t) as [C1 C2]; pose proof (c_spec (t - 1)) as [D1 D2].
    assert (B1 : c_ (t - 1) <= c_ t) by nia; assert (B2 : c_ t <= c_ (t - 1) + 1) by nia.
    destruct least_facts as [L0 _].
    assert (N : ~ (c_ (t - 1) = least_ - 1 /\ c_ t = least_)).
    { intros [A B]; rewrite A in *; rewrite B in *; assert (t = last + (least_ - 1) * β + 1) by lia.
      unfold threshold in Th; destruct (least_ <? 0) eqn:L; [lia|]; assert (least_ = 0) by lia; apply Ng; lia. }
    apply eq_true_iff_eq; rewrite !Z.eqb_eq; lia.
  Qed.
  Theorem t0_is_t0_minus_slide : map seen (reports s q all) = map seen (reports s' q all).
  Proof.
    destruct same_fields as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8 & E9 & E10 & E11 & E12 & E13); destruct placed_at as [O O'].
    destruct sizes as (Sz & Sl & Lg); fold β in Sl.
    pose proof (one_window s q all w o one ltac:(congruence) can_trigger O) as R; cbv zeta in R; fold p in R.
    pose proof (one_window s' q all w (o - β) one ltac:(congruence) ltac:(rewrite E9; exact can_trigger) O') as R'; cbv zeta in R'; fold p' in R'.
    assert (Ar : arrivals_of s' q all = arrivals_of s q all) by (unfold arrivals_of, horizon_of, reach, slide; now rewrite E2, E3, E10).
    rewrite R, R', Ar; f_equal; symmetry.
    assert (S1 : s0_at s p o = first - 1) by reflexivity.
    assert (S2 : s0_at s' p' (o - β) = first - 1 - β).
    { unfold s0_at; assert (Fs : first_instant s' p' (o - β) 0 = first_instant s p' (o - β) 0) by (unfold first_instant, low; now rewrite E1).
      rewrite Fs, first_of'; lia. }
    rewrite S1, S2; set (M := machine s p (first - 1)); set (V := machine s' p' (first - 1 - β)).
    assert (Th : first - 1 <= threshold) by (unfold threshold; destruct (least_ <? 0); lia).
    assert (Ow : forall a, owns M a <= at_ a) by (intros a; apply (own_is_at s q all w o (or_introl time))).
    assert (Og : forall a b, at_ a <= at_ b -> owns M a <= owns M b) by (intros a b; apply (own_grows s q all w o (or_introl time))).
    assert (Hh : forall t b, holds V t b = content s p' t b) by (intros; cbn; symmetry; apply same_content; [fewer fields|apply itself_]).
    apply (earlier_go s p p' (first - 1) (first - 1 - β) threshold (last - β) M V inside); auto.
    - lia.
    - intros a b; cbn; unfold interval; rewrite E6, (same_moves s s' [p'] [p']) by (constructor; [apply itself_|constructor]); reflexivity.
    - intros l a; cbn; unfold is_due; now rewrite E7.
    - intros a; cbn; unfold own; change (win p') with w; change (win p) with w; rewrite time, E1, E5; reflexivity.
    - intros a b; cbn; now rewrite E11.
    - intros t b F; rewrite Hh; cbn; now rewrite held_by_V, held_by_M.
    - intros ow t b c F; cbn; now apply meets_alike.
    - intros t b F L; cbn; apply nothing_seen; [assumption|now apply below_threshold].
    - intros ow t b c F L; cbn; unfold worthy; rewrite nothing_seen by (assumption || now apply below_threshold); rewrite not_empty; cbn.
      now rewrite !andb_false_r.
    - intros t Lt Ne; now apply moves_alike.
    - apply Forall_forall; intros e He; rewrite (arrivals_and_sentinel s q all h the_horizon), elements_of_arrivals in He.
      split; [now apply points, (arriving_in s q)|intros n Hn; now apply none_before].
    - apply Forall_forall; intros a Ha X; apply (undisturbed X a Ha).
    - split; [reflexivity|right]; cbn; repeat split; lia.
    - rewrite (arrivals_and_sentinel s q all h the_horizon); exact (they_arrive_in_order s q all w o h later_horizon).
    - cbn; intros; lia.
  Qed.
End Origin.
