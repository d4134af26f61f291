(** "What no stream can tell apart" (docs/laws.md), of one window: expiry under window close, and the windows of a gap. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices OneWindow Single.
Import ListNotations.
Open Scope Z_scope.

(** * Expiry under window close *)

(** "... or under window close with content change, if any, against the last report." *)
Theorem expiry_under_window_close s s' q all w o :
  differ_only_in [ExpirySeen_] s s' -> expiry_seen s = Replayed -> expiry_seen s' = Eager ->
  window_close s = true -> (content_change s = true -> baseline s = LastReport) ->
  windows q = [w] -> kind w <> Tuple -> (trigger s = Explicit -> triggers w = true) ->
  origin (place s q all w) = Some o ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D X X' C B W K T O.
  assert (T' : trigger s' = trigger s) by (clear - D; equate D; reflexivity).
  assert (G' : missed s' = missed s) by (clear - D; equate D; reflexivity).
  assert (B' : baseline s' = baseline s) by (clear - D; equate D; reflexivity).
  machines s s' q all w o D.
  f_equal; set (p := place s q all w) in *; set (start := s0_at s p o).
  pose proof (machines_have_same_parts s s' p start ltac:(fewer D)) as Parts; pose proof Parts as [Sh Sm So].
  set (M := machine s p start) in *; set (M' := machine s' p start) in *.
  assert (Never : forall own b c, meets_all M own own b c = false)
    by (intros; cbn; unfold timely; rewrite C, Z.ltb_irrefl; cbn; now rewrite andb_false_r).
  assert (Compared : forall own t b last prev prev',
    meets_all M own t b (compares M last prev) = meets_all M own t b (compares M last prev')).
  { intros; cbn; unfold worthy; destruct (content_change s) eqn:Ch; [now rewrite B|reflexivity]. }
  assert (Look : forall b own ts last prev prev', fst (look M b own ts last prev) = fst (look M' b own ts last prev') /\
    fst (snd (look M b own ts last prev)) = fst (snd (look M' b own ts last prev')) /\
    fst (look M b own ts last prev) = fst (look M' b own (ts ++ [own]) last prev') /\
    fst (snd (look M b own ts last prev)) = fst (snd (look M' b own (ts ++ [own]) last prev'))).
  { assert (Cm : forall x y, compares M' x y = compares M x y) by (intros; cbn; now rewrite B').
    assert (Gm : gap M' = gap M) by exact G'.
    intros b own ts; induction ts as [|t ts IH]; intros last prev prev'; cbn [look List.app].
    - rewrite <- Sm, Never; replace (match gap M' with All => false | Latest => false end) with false by now destruct (gap M').
      repeat split; reflexivity.
    - rewrite <- Sm, Cm, <- Sh, Gm, (Compared own t b last prev prev').
      set (ok := meets_all M own t b _); set (l := if match gap M with All => ok | Latest => false end then _ else _).
      destruct (IH l (holds M t b) (holds M t b)) as (A1 & A2 & A3 & A4).
      destruct (look M b own ts l _), (look M' b own ts l _), (look M' b own (ts ++ [own]) l _); cbn in *; subst.
      now destruct ok. }
  assert (Ivs : forall x y, instants M' x y = instants M x y \/ instants M' x y = instants M x y ++ [y]).
  { intros x y; change (instants M') with (interval s' [p] start); change (instants M) with (interval s [p] start).
    unfold interval; rewrite X, X'; destruct (x =? y); [left; reflexivity|]; cbn [orb].
    destruct ((x <? y) && moves s' [p] y); [|left; reflexivity].
    rewrite app_nil_r, filter_app; cbn [filter]; destruct (start <=? y); [right; reflexivity|left; apply app_nil_r]. }
  assert (Go : forall arrivals b l last prev prev' k,
    go M b l last prev k arrivals = go M' b l last prev' k arrivals).
  { induction arrivals as [|a rest IH]; intros b l last prev prev' k; cbn [go]; [reflexivity|].
    assert (Lo : looks M' l a = looks M l a).
    { cbn; unfold is_due; replace (tick s') with (tick s) by (clear - D; now equate D); reflexivity. }
    unfold next; rewrite Lo, <- So; destruct (looks M l a); [|apply IH].
    assert (A : exists rs m prev2, arrive M b (owns M a) (instants M (looked_own l) (owns M a)) last prev = (rs, m) /\
      arrive M' b (owns M a) (instants M' (looked_own l) (owns M a)) last prev' = (rs, (fst m, prev2))).
    { unfold arrive; change (gap M') with (missed s'); rewrite G'; change (missed s) with (gap M).
      destruct (Look b (owns M a) (instants M (looked_own l) (owns M a)) last prev prev') as (A1 & A2 & A3 & A4).
      destruct (look M b _ _ last prev) as [rs m].
      destruct (Ivs (looked_own l) (owns M a)) as [-> | ->].
      - clear A3 A4; destruct (look M' b _ _ last prev') as [rs' [l' p']], m as [l1 p1]; cbn [fst snd] in *; subst rs' l1.
        destruct (gap M); [exists rs, (l', p1), p'; split; reflexivity|].
        destruct (rev rs) as [|r ?]; [exists rs, (l', p1), p'|exists [r], (snd r, p1), p']; split; reflexivity.
      - clear A1 A2; destruct (look M' b _ (_ ++ _) last prev') as [rs' [l' p']], m as [l1 p1]; cbn [fst snd] in *; subst rs' l1.
        destruct (gap M); [exists rs, (l', p1), p'; split; reflexivity|].
        destruct (rev rs) as [|r ?]; [exists rs, (l', p1), p'|exists [r], (snd r, p1), p']; split; reflexivity. }
    destruct A as (rs & m & prev2 & -> & ->); f_equal; apply IH. }
  apply Go.
Qed.

(** * The windows of a gap *)

Lemma last_cons {A} (x : A) xs d : List.last (x :: xs) d = List.last xs x.
Proof. revert x d; induction xs as [|y xs IH]; intros; [reflexivity|]; change (List.last (y :: xs) d = List.last (y :: xs) x); now rewrite !IH. Qed.

(** "All windows of a gap and the latest, where `all` reports no gap twice; under content change by graph, up to
    contents of the same graph." *)
Theorem all_of_a_gap_is_the_latest s s' q all w o :
  differ_only_in [Missed_] s s' -> missed s = All -> missed s' = Latest ->
  windows q = [w] -> kind w <> Tuple -> (trigger s = Explicit -> triggers w = true) ->
  origin (place s q all w) = Some o ->
  NoDup (map arrival (reports s q all)) ->
  Forall2 (fun x y => snd (fst x) = snd (fst y) /\
                      Forall2 (fun c c' => differs s c c' = false /\ (content_change s = false -> c = c')) (snd x) (snd y))
    (map seen (reports s q all)) (map seen (reports s' q all)).
Proof.
  intros D G G' W K T O Once.
  assert (T' : trigger s' = trigger s) by (clear - D; equate D; reflexivity).
  assert (B' : baseline s' = baseline s) by (clear - D; equate D; reflexivity).
  assert (Once' : NoDup (map (fun x => snd (fst x)) (map seen (reports s q all))))
    by (rewrite map_map; exact Once).
  destruct (two_machines s s' q all w o) as [E E'];
    [fewer D|clear - D; now equate D|assumption|assumption|assumption|rewrite T'; assumption|assumption|].
  rewrite E in *; rewrite E'; clear E E' Once; rewrite map_map in Once'; cbn in Once'.
  set (p := place s q all w) in *; set (start := s0_at s p o) in *.
  pose proof (machines_have_same_parts s s' p start ltac:(fewer D)) as Parts; pose proof Parts as [Sh Sm So].
  set (M := machine s p start) in *; set (M' := machine s' p start) in *.
  (* what both have last reported, and have both reported *)
  set (R := fun c c' : Content => differs s c c' = false /\ (content_change s = false -> c = c')).
  assert (Rr : forall c, R c c) by (intros; split; [apply same_as_refl|reflexivity]).
  assert (Meets : forall own t b c c', R c c' -> meets_all M own t b c = meets_all M own t b c').
  { intros own t b c c' [H _]; cbn; unfold worthy; now rewrite (differs_alike s _ c c' H). }
  set (cond := fun own t b => timely s own t p && has_scope s p t &&
     (negb (non_empty s) || negb (match content s p t b with [] => true | _ => false end))).
  assert (Cond : forall own t b c, meets_all M own t b c =
    cond own t b && (negb (content_change s) || differs s (content s p t b) c)).
  { intros; cbn; unfold worthy, cond.
    destruct (timely s own t p), (has_scope s p t), (negb (content_change s) || differs s (content s p t b) c); cbn; trivial;
      now rewrite ?andb_true_r, ?andb_false_r. }
  assert (Gm : gap M = All) by exact G. assert (Gm' : gap M' = Latest) by exact G'.
  assert (Prev : forall N b own ts last prev, snd (snd (look N b own ts last prev)) = List.last (map (fun t => holds N t b) ts) prev).
  { intros N b own; induction ts as [|t ts IH]; intros last prev; cbn [look map]; [reflexivity|].
    match goal with |- context [look N b own ts ?x ?y] => specialize (IH x y); destruct (look N b own ts x y) end.
    cbn [fst snd] in *; rewrite IH; symmetry; apply last_cons. }
  assert (Last : forall b own ts last prev, fst (snd (look M b own ts last prev)) =
    match rev (fst (look M b own ts last prev)) with r :: _ => snd r | [] => last end).
  { intros b own; induction ts as [|t ts IH]; intros last prev; cbn [look]; [reflexivity|]; rewrite Gm.
    set (ok := meets_all M own t b _); specialize (IH (if ok then holds M t b else last) (holds M t b)).
    destruct (look M b own ts _ _) as [rs m]; cbn [fst snd] in *; rewrite IH.
    destruct ok; [cbn [rev]; destruct (rev rs); reflexivity|reflexivity]. }
  assert (Last' : forall b own ts last prev, fst (snd (look M' b own ts last prev)) = last).
  { intros b own; induction ts as [|t ts IH]; intros last prev; cbn [look]; [reflexivity|]; rewrite Gm'.
    specialize (IH last (holds M' t b)); now destruct (look M' b own ts last _). }
  (* a report that follows in a gap has the same content, if there is content change against the last report *)
  assert (Later : content_change s = true -> baseline s = LastReport -> forall b own ts c prev prev' last',
    fst (look M b own ts c prev) = [] -> Forall (fun r => R c (snd r)) (fst (look M' b own ts last' prev'))).
  { intros Ch Bl b own; induction ts as [|t ts IH]; intros c prev prev' last'; cbn [look]; [constructor|].
    rewrite Gm, Gm'; set (ok := meets_all M own t b (compares M c prev)) in *.
    destruct ok eqn:Ok; [destruct (look M b own ts _ _); discriminate|].
    specialize (IH c (holds M t b) (holds M' t b) last').
    destruct (look M b own ts _ _) as [rs m], (look M' b own ts _ _) as [rs' m']; cbn [fst snd] in *.
    intros S; specialize (IH S); destruct (meets_all M' own t b _) eqn:Ok'; [constructor; [|assumption]|assumption].
    rewrite <- Sm, Cond in Ok'; apply andb_true_iff in Ok' as [Co _].
    unfold ok in Ok; rewrite Cond, Co, Ch in Ok; cbn in Ok; rewrite Bl in Ok; rewrite <- Sh; split; [|congruence].
    apply same_as_sym; exact Ok. }
  assert (Looks : forall b own ts last last' prev, R last last' -> (length (fst (look M b own ts last prev)) <= 1)%nat ->
    match fst (look M b own ts last prev), fst (look M' b own ts last' prev) with
    | [], [] => True
    | [r], rs' => rs' <> [] /\ Forall (fun r' => R (snd r) (snd r')) rs'
    | _, _ => False
    end).
  { intros b own ts last last' prev Rl.
    assert (Cases : (content_change s = true /\ baseline s = LastReport) \/
      (forall own t b c c' prev, meets_all M own t b (compares M c prev) = meets_all M own t b (compares M c' prev))).
    { destruct (content_change s) eqn:Ch; [destruct (baseline s) eqn:Bl; [now left|]|];
        right; intros; rewrite !Cond, ?Ch; cbn; now rewrite ?Bl. }
    destruct Cases as [[Ch Bl]|Free].
    - revert last last' prev Rl; induction ts as [|t ts IH]; intros last last' prev Rl; cbn [look]; [intros _; exact I|].
      assert (Ok : meets_all M' own t b (compares M' last' prev) = meets_all M own t b (compares M last prev)).
      { rewrite <- Sm; symmetry; apply Meets; cbn; now rewrite B', Bl. }
      rewrite Ok, <- Sh, Gm, Gm'; destruct (meets_all M own t b _).
      + pose proof (Later Ch Bl b own ts (holds M t b) (holds M t b) (holds M t b) last') as La.
        destruct (look M b own ts _ _) as [rs m], (look M' b own ts _ _) as [rs' m']; cbn [fst snd length] in *.
        intros Le; destruct rs; [|cbn in Le; lia]; split; [discriminate|]; constructor; [apply Rr|now apply La].
      + specialize (IH last last' (holds M t b) Rl).
        destruct (look M b own ts _ _) as [rs m], (look M' b own ts _ _) as [rs' m']; exact IH.
    - assert (E : fst (look M b own ts last prev) = fst (look M' b own ts last' prev)).
      { clear Rl; revert last last' prev; induction ts as [|t ts IH]; intros last last' prev; cbn [look]; [reflexivity|].
        assert (Ok : meets_all M' own t b (compares M' last' prev) = meets_all M own t b (compares M last prev)).
        { assert (Cm : forall x y, compares M' x y = compares M x y) by (intros; cbn; now rewrite B').
          rewrite <- Sm, Cm; apply Free. }
        rewrite Ok, <- Sh, Gm, Gm'; set (ok := meets_all M own t b (compares M last prev)).
        specialize (IH (if ok then holds M t b else last) last' (holds M t b)).
        destruct (look M b own ts _ _) as [rs m], (look M' b own ts _ _) as [rs' m']; cbn [fst] in *; subst; now destruct ok. }
      rewrite <- E; destruct (fst (look M b own ts last prev)) as [|r [|? ?]]; cbn; [trivial| |lia].
      intros _; split; [discriminate|]; constructor; [apply Rr|constructor]. }
  assert (Arrive : forall b own ts last last' prev, R last last' -> (length (fst (look M b own ts last prev)) <= 1)%nat ->
    fst (arrive M b own ts last prev) = fst (look M b own ts last prev) /\
    Forall2 (fun r r' => R (snd r) (snd r')) (fst (arrive M b own ts last prev)) (fst (arrive M' b own ts last' prev)) /\
    R (fst (snd (arrive M b own ts last prev))) (fst (snd (arrive M' b own ts last' prev))) /\
    snd (snd (arrive M b own ts last prev)) = snd (snd (arrive M' b own ts last' prev))).
  { intros b own ts last last' prev Rl Len; specialize (Looks b own ts last last' prev Rl Len).
    pose proof (Last b own ts last prev) as L; pose proof (Last' b own ts last' prev) as L'.
    pose proof (Prev M b own ts last prev) as P; pose proof (Prev M' b own ts last' prev) as P'.
    assert (Hs : map (fun t => holds M' t b) ts = map (fun t => holds M t b) ts) by (apply map_ext; intros; symmetry; apply Sh).
    unfold arrive; rewrite Gm, Gm'; destruct (look M b own ts last prev) as [rs m], (look M' b own ts last' prev) as [rs' m'].
    cbn [fst snd] in *; rewrite Hs in P'; destruct rs as [|r [|? ?]]; [destruct rs'; [|easy]| |easy].
    - cbn; repeat split; try constructor; try congruence; rewrite L, L'; cbn; assumption || apply Rl.
    - destruct Looks as [Ne F]; destruct (rev rs') as [|r' ?] eqn:Re.
      + exfalso; apply Ne; rewrite <- (rev_involutive rs'), Re; reflexivity.
      + assert (Rr' : R (snd r) (snd r')) by (rewrite Forall_forall in F; apply F, in_rev; rewrite Re; now left).
        cbn; repeat split; try congruence; [constructor; [exact Rr'|constructor]| |]; rewrite L; cbn; apply Rr'. }
  revert Once'; generalize (arrivals_of s q all); intros arrivals.
  enough (Go : forall b l last last' prev k, R last last' ->
    NoDup (map (fun x => snd (fst x)) (go M b l last prev k arrivals)) ->
    (forall x, In x (map (fun x => snd (fst x)) (go M b l last prev k arrivals)) -> k <= x) /\
    Forall2 (fun x y => snd (fst x) = snd (fst y) /\ R (snd x) (snd y)) (go M b l last prev k arrivals) (go M' b l last' prev k arrivals)).
  { intros N; destruct (Go [] (none_looked start) [] [] [] 0 (Rr []) N) as [_ F].
    clear - F; revert F; generalize (go M [] (none_looked start) [] [] 0 arrivals), (go M' [] (none_looked start) [] [] 0 arrivals).
    intros xs ys F; induction F as [|x y xs ys [A B] F IH]; cbn; constructor; [|exact IH].
    split; [exact A|constructor; [exact B|constructor]]. }
  induction arrivals as [|a rest IH]; intros b l last last' prev k Rl N; cbn [go] in *; [split; [easy|constructor]|].
  assert (Lo : looks M' l a = looks M l a).
  { cbn; unfold is_due; replace (tick s') with (tick s) by (clear - D; now equate D); reflexivity. }
  assert (Iv : forall x y, instants M' x y = instants M x y) by (intros; symmetry; apply same_interval_of; fewer D).
  unfold next in *; rewrite Lo, <- So, Iv; destruct (looks M l a).
  - set (ts := instants M (looked_own l) (owns M a)) in *.
    assert (Len : (length (fst (look M b (owns M a) ts last prev)) <= 1)%nat).
    { unfold arrive in N; rewrite Gm in N; destruct (look M b (owns M a) ts last prev) as [rs m]; cbn [fst].
      rewrite map_app, map_map in N; cbn in N; destruct rs as [|r [|r' rs]]; cbn in *; try lia.
      inversion N as [|? ? Ni _]; exfalso; apply Ni; now left. }
    destruct (Arrive b (owns M a) ts last last' prev Rl Len) as (_ & F & Rl' & Pe).
    destruct (arrive M b _ ts last prev) as [rs m], (arrive M' b _ ts last' prev) as [rs' m']; cbn [fst snd] in *.
    rewrite map_app in N; rewrite map_app, <- Pe.
    assert (N2 : NoDup (map (fun x => snd (fst x)) (go M (with_element b a)
      {| looked_app := at_ a; looked_batch := a_batch a; looked_own := owns M a |} (fst m) (snd m) (k + 1) rest)))
      by (clear - N; induction (map _ (map _ rs)) as [|x xs IHx]; cbn in N; [assumption|inversion N; auto]).
    destruct (IH _ _ _ _ (snd m) (k + 1) Rl' N2) as [Ks F2]; split.
    + intros x Hx; apply in_app_iff in Hx as [Hx|Hx]; [|specialize (Ks x Hx); lia].
      rewrite map_map in Hx; apply in_map_iff in Hx as (r & <- & _); cbn; lia.
    + apply Forall2_app; [|assumption]; clear - F; induction F; cbn; constructor; auto.
  - destruct (IH (with_element b a) l last last' prev (k + 1) Rl N) as [Ks F2]; split; [|assumption].
    intros x Hx; specialize (Ks x Hx); lia.
Qed.
