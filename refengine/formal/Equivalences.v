(** "What no stream can tell apart" (docs/laws.md): the entries that hold because both sides decide alike.
    Each theorem has the sentence of its entry.  Many hold of more than the sentence presumes: of several
    windows, of all kinds. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Alike.
Import ListNotations.
Open Scope Z_scope.

Lemma Forall2_maps {A B C} (R : B -> C -> Prop) (f : A -> B) (g : A -> C) xs :
  (forall x, In x xs -> R (f x) (g x)) -> Forall2 R (map f xs) (map g xs).
Proof. induction xs as [|x xs IH]; intros H; cbn; constructor; [apply H; now left|apply IH; intros; apply H; now right]. Qed.
Lemma all_elements (P : Element -> Prop) s q all :
  (forall e, P e) -> Forall (fun a => match element a with Some e => P e | None => True end) (arrivals_of s q all).
Proof. intros H; apply Forall_forall; intros a _; now destruct (element a). Qed.
Lemma first_is_tuple_of_kinds f g ws :
  (forall w, kind (win (f w)) = kind w) -> (forall w, kind (win (g w)) = kind w) ->
  first_is_tuple (map f ws) = first_is_tuple (map g ws).
Proof. destruct ws as [|w ws]; cbn; [reflexivity|]; intros -> ->; reflexivity. Qed.

(** * Windows with the same instants are the same windows *)

Section SameInstants.
  Variables (s s' : Semantics).
  Hypothesis fields : differ_only_in
    [T0_; Closure_; Slide_; Periodic_; CloseRule_; ExpirySeen_; Missed_; Baseline_; Tick_; Trigger_; Collection_;
     Consumption_; R2S_; Base_; Empty_; Horizon_; Instant_; Lateness_] s s'.
  (** Both have the same first and last instants, and all else that is looked at. *)
  Record same_window (p p' : Placed) : Prop := {
    same_kind : kind (win p) = kind (win p');
    same_stream : on (win p) = on (win p');
    same_keys : by_ (win p) = by_ (win p');
    same_triggers : triggers (win p) = triggers (win p');
    same_lag : lag (win p) = lag (win p');
    same_ids : ids p = ids p';
    same_slide : slide s (win p) = slide s' (win p');
    same_size : size (win p) = size (win p') \/ bordered (kind (win p)) = true;
    same_least : least s (win p) = least s' (win p');
    same_origin : match origin p, origin p' with
      | None, None => True
      | Some o, Some o' => first_instant s p o 0 = first_instant s' p' o' 0 /\
                           last_instant s p o 0 = last_instant s' p' o' 0
      | _, _ => False end }.
  Definition same_beats (p p' : Placed) : Prop := forall t, is_periodic s p t = is_periodic s' p' t.
  Lemma equal_origins p p' : origin p = origin p' ->
    (forall o, first_instant s p o 0 = first_instant s' p' o 0 /\ last_instant s p o 0 = last_instant s' p' o 0) ->
    match origin p, origin p' with
    | None, None => True
    | Some o, Some o' => first_instant s p o 0 = first_instant s' p' o' 0 /\
                         last_instant s p o 0 = last_instant s' p' o' 0
    | _, _ => False end.
  Proof. intros <- H; destruct (origin p); auto. Qed.
  Hypothesis same_periodic : match periodic s, periodic s' with None, None | Some _, Some _ => True | _, _ => False end.

  Lemma same_first p p' o o' n : slide s (win p) = slide s' (win p') ->
    first_instant s p o 0 = first_instant s' p' o' 0 -> first_instant s p o n = first_instant s' p' o' n.
  Proof. unfold first_instant; intros <-; nia. Qed.
  Lemma same_last p p' o o' n : slide s (win p) = slide s' (win p') ->
    last_instant s p o 0 = last_instant s' p' o' 0 -> last_instant s p o n = last_instant s' p' o' n.
  Proof. unfold last_instant; intros <-; nia. Qed.
  Lemma same_current p p' t : same_window p p' -> current s p t = current s' p' t.
  Proof.
    intros [K _ _ _ _ _ Sl _ L O]; unfold current; destruct (origin p) as [o|], (origin p') as [o'|]; try easy.
    destruct O as [F La]; unfold current_at, s0_at; now rewrite F, K, L, Sl, La.
  Qed.
  Lemma same_content p p' t before : same_window p p' -> content s p t before = content s' p' t before.
  Proof.
    intros W; unfold content; rewrite <- (same_current p p' t W); destruct W as [K St By _ Lg I Sl Si L O].
    rewrite <- St; destruct (origin p) as [o|], (origin p') as [o'|]; try easy.
    destruct (current s p t) as [n|]; [|reflexivity]; destruct O as [F La].
    assert (M : forall e, meets s p o n t e = meets s' p' o' n t e).
    { intros e; unfold meets, clipped_first, begins, ends.
      rewrite <- K, <- Lg, <- I, <- (same_first p p' o o' n Sl F), <- (same_last p p' o o' n Sl La), <- F.
      replace (partial s') with (partial s) by (clear - fields; now equate fields); reflexivity. }
    rewrite <- K; destruct (kind (win p)) eqn:Kp; try (apply filter_ext; intros; apply M).
    - unfold latest_rows; rewrite I, Sl; destruct Si as [->|]; [reflexivity|discriminate].
    - destruct Si as [Si|]; [|discriminate].
      assert (Ke : forall a b, same_key (win p) a b = same_key (win p') a b)
        by (intros; unfold same_key, key; now rewrite By).
      clear - Si Ke; set (es := filter _ before); clearbody es; induction es as [|e es IH]; cbn; [reflexivity|].
      rewrite (filter_ext _ _ (Ke e)), Si, IH; reflexivity.
  Qed.
  Lemma same_scope p p' t : same_window p p' -> has_scope s p t = has_scope s' p' t.
  Proof. intros W; unfold has_scope; now rewrite (same_current p p' t W). Qed.
  Lemma same_timely p p' o t : same_window p p' -> same_beats p p' -> timely s o t p = timely s' o t p'.
  Proof.
    intros W Be; unfold timely; rewrite <- (same_scope p p' t W).
    assert (C : closes_at s p t = closes_at s' p' t).
    { destruct W as [_ _ _ _ _ _ Sl _ L O]; unfold closes_at.
      destruct (origin p) as [x|], (origin p') as [x'|]; try easy; destruct O as [_ La].
      now rewrite <- La, <- Sl, <- L, <- (same_last p p' x x' _ Sl La). }
    rewrite <- C, (Be t); replace (window_close s') with (window_close s) by (clear - fields; now equate fields).
    now destruct (periodic s), (periodic s').
  Qed.
  Lemma same_worthy p p' t before c : same_window p p' -> worthy s t before p c = worthy s' t before p' c.
  Proof.
    intros W; unfold worthy; rewrite <- (same_scope p p' t W), <- (same_content p p' t before W).
    clear - fields; now equate fields.
  Qed.
  Theorem windows_alike tuples p p' : same_window p p' -> same_beats p p' -> alike s s' (fun _ => True) tuples p p'.
  Proof.
    intros W Be; split; [apply W|split; [|split; [|split]]]; intros.
    - now apply same_content.
    - now rewrite (same_timely p p'), (same_worthy p p') by assumption.
    - now apply same_timely.
    - now apply same_worthy.
  Qed.
  Lemma same_moves ps ps' : Forall2 same_window ps ps' -> forall t, moves s ps t = moves s' ps' t.
  Proof.
    intros W t; clear - W fields; unfold moves; induction W as [|p p' ? ? Wp ? IH]; cbn [existsb]; [reflexivity|].
    now rewrite IH, !(same_current p p' _ Wp), (same_kind p p' Wp).
  Qed.
  Lemma same_starts ps ps' : Forall2 same_window ps ps' -> starts s ps = starts s' ps'.
  Proof.
    intros W; clear - W; unfold starts; induction W as [|p p' ? ? Wp ? IH]; cbn [flat_map]; [reflexivity|].
    pose proof (same_origin p p' Wp) as E; rewrite IH; unfold s0.
    destruct (origin p), (origin p'); cbn in *; try easy; unfold s0_at; now destruct E as [-> _].
  Qed.
  Variables (q q' : Query) (all : list Element).
  Let ps := map (place s q all) (windows q).
  Let ps' := map (place s' q' all) (windows q').
  Theorem same_windows_same_reports :
    differ_only_in [T0_; Closure_; Slide_; Periodic_; CloseRule_] s s' ->
    Forall2 same_window ps ps' -> Forall2 same_beats ps ps' -> (forall a, own s ps a = own s' ps' a) ->
    arrivals_of s q all = arrivals_of s' q' all ->
    map seen (reports s q all) = map seen (reports s' q' all).
  Proof.
    intros short W Be O A; pose proof (same_moves ps ps' W) as Mo.
    apply alike_reports with (P := fun _ => True) (tuples := first_is_tuple ps); fold ps ps'; auto.
    - clear - W Be fields same_periodic; clearbody ps ps'; generalize (first_is_tuple ps); intros b.
      induction W; inversion Be; subst; constructor; auto; now apply windows_alike.
    - intros; apply fires_of_same_trigger; [clear - short; now equate short|assumption].
    - clear - short; now equate short.
    - clear - short; now equate short.
    - split; [reflexivity|]; clear - W; clearbody ps ps'; destruct W as [|p p' ? ? Wp]; cbn; [reflexivity|].
      now rewrite (same_kind p p' Wp).
    - now apply same_starts.
    - apply all_elements; auto.
    - apply Forall_forall; intros a _ start since; rewrite O; unfold interval; rewrite Mo.
      replace (expiry_seen s') with (expiry_seen s) by (clear - short; now equate short); reflexivity.
    - apply same_tick_same_dues; clear - short; now equate short.
  Qed.
End SameInstants.

(** A semantics under which the same windows are placed, and decide alike by themselves. *)
Definition outside := [ExpirySeen_; Missed_; Baseline_; Tick_; Trigger_; Collection_; Consumption_; R2S_; Base_;
                       Empty_; Horizon_; Instant_].
Section SamePlaces.
  Variables (s s' : Semantics).
  Hypothesis fields : differ_only_in outside s s'.
  Lemma window_is_itself p : same_window s s' p p.
  Proof.
    assert (E : closure s' = closure s /\ slide_choice s' = slide_choice s /\ partial s' = partial s /\
                periodic s' = periodic s) by (equate fields; repeat split).
    destruct E as (E & E1 & E2 & _); constructor; try reflexivity.
    - unfold slide; now rewrite E1.
    - now left.
    - unfold least, slide; now rewrite E1, E2.
    - destruct (origin p); [|exact I]; unfold first_instant, last_instant, slide, low, high; now rewrite E, E1.
  Qed.
  Lemma beats_are_themselves p : same_beats s s' p p.
  Proof.
    assert (E : closure s' = closure s /\ periodic s' = periodic s) by (equate fields; repeat split).
    intros t; unfold is_periodic, border; now destruct E as [-> ->].
  Qed.
  Lemma weaker_fields : differ_only_in
    [T0_; Closure_; Slide_; Periodic_; CloseRule_; ExpirySeen_; Missed_; Baseline_; Tick_; Trigger_; Collection_;
     Consumption_; R2S_; Base_; Empty_; Horizon_; Instant_; Lateness_] s s'.
  Proof. equate fields; repeat split. Qed.
  Lemma windows_are_themselves ps : Forall2 (same_window s s') ps ps.
  Proof. induction ps; constructor; auto using window_is_itself. Qed.
  Lemma alike_itself b p : alike s s' (fun _ => True) b p p.
  Proof.
    apply windows_alike; [apply weaker_fields| |apply window_is_itself|apply beats_are_themselves].
    assert (E : periodic s' = periodic s) by (equate fields; reflexivity).
    rewrite E; now destruct (periodic s).
  Qed.
  Lemma same_owns ps' a : own s ps' a = own s' ps' a.
  Proof.
    assert (E : closure s' = closure s /\ close_rule s' = close_rule s) by (equate fields; repeat split).
    unfold own; destruct E as [-> ->]; reflexivity.
  Qed.
  Variables (q : Query) (all : list Element).
  Let ps := map (place s q all) (windows q).
  Lemma same_place w : place s' q all w = place s q all w.
  Proof.
    assert (E : t0 s' = t0 s /\ closure s' = closure s /\ slide_choice s' = slide_choice s /\ lateness s' = lateness s)
      by (equate fields; repeat split).
    destruct E as (E & E1 & E2 & E3); unfold place, origin_of, slide, high; now rewrite E, E1, E2, E3.
  Qed.
  Lemma same_places : map (place s' q all) (windows q) = ps.
  Proof. apply map_ext, same_place. Qed.
  Lemma same_arrivals : horizon s' = horizon s -> arrivals_of s' q all = arrivals_of s q all.
  Proof.
    assert (E : slide_choice s' = slide_choice s /\ lateness s' = lateness s) by (equate fields; repeat split).
    destruct E as [E E1]; intros H; unfold arrivals_of, horizon_of, reach, slide; now rewrite E, E1, H.
  Qed.
  (** They report alike if they look at the same instants of the same arrivals. *)
  Theorem same_instants_same_reports :
    trigger s = trigger s' -> missed s = missed s' -> baseline s = baseline s' -> horizon s = horizon s' ->
    Forall (same_interval s s' ps ps) (arrivals_of s q all) ->
    (forall l, looked_batch l = 0 -> same_dues s s' ps l (arrivals_of s q all)) ->
    map seen (reports s q all) = map seen (reports s' q all).
  Proof.
    intros T M B H I D.
    apply alike_reports with (P := fun _ => True) (tuples := first_is_tuple ps); rewrite ?same_places; fold ps; auto.
    - clear - fields; clearbody ps; generalize (first_is_tuple ps); intros b; induction ps; constructor; auto using alike_itself.
    - intros; now apply fires_of_same_trigger.
    - intros; apply same_owns.
    - exact (same_starts s s' ps ps (windows_are_themselves ps)).
    - rewrite same_arrivals; auto.
    - apply all_elements; auto.
  Qed.
End SamePlaces.
Ltac fewer D := clear - D; equate D; repeat split.

(** "`(]` with t0, and `[)` with t0 + 1, where windows close when reached, an integer anchor is moved by 1
    too, and none is the first element." *)
Theorem left_open_is_right_open_one_later s s' q all t :
  differ_only_in [T0_; Closure_; Periodic_] s s' -> (forall w, In w (windows q) -> bordered (kind w) = true) ->
  closure s = LeftOpen -> t0 s = At t -> closure s' = RightOpen -> t0 s' = At (t + 1) -> close_rule s = Reached ->
  match periodic s, periodic s' with
  | None, None => True
  | Some (λ, AnchorAt x), Some (λ', AnchorAt x') => λ' = λ /\ x' = x + 1
  | Some (λ, AnchorT0), Some (λ', AnchorT0) => λ' = λ
  | _, _ => False
  end ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D B C T C' T' R Pe; apply same_windows_same_reports.
  - fewer D.
  - now destruct (periodic s) as [[? []]|], (periodic s') as [[? []]|].
  - fewer D.
  - apply Forall2_maps; intros w Hw; specialize (B w Hw); equate D; subst.
    constructor; try reflexivity.
    + now right.
    + cbn; unfold first_instant, last_instant, low, high, slide; cbn; rewrite B; lia.
  - apply Forall2_maps; intros w Hw x; specialize (B w Hw); equate D; subst; unfold is_periodic, border; cbn.
    destruct periodic as [[? []]|], periodic0 as [[? []]|]; cbn in *; try easy;
    [destruct Pe as [-> ->]|subst]; do 2 f_equal; lia.
  - intros a; unfold own; destruct q as [[|w ws] ? ? ? ? ?]; cbn; [reflexivity|]; equate D; subst.
    now destruct (kind w), (element a).
  - equate D; reflexivity.
Qed.

Definition but_sizes (f : Z -> Z) (q : Query) : Query :=
  {| windows := map (fun w => {| on := on w; kind := kind w; size := f (size w); stated := stated w; unit := unit w;
                                 by_ := by_ w; name := name w; triggers := triggers w; lag := lag w |}) (windows q);
     registered := registered q; operator := operator q; static := static q; patterns := patterns q;
     selected := selected q |}.
(** "`[]` with ω, and `[)` with ω + 1, where windows close when reached, without `periodic` and without
    partial windows." *)
Theorem closed_is_right_open_of_one_more s s' q all h t :
  differ_only_in [Closure_] s s' ->
  (forall w, In w (windows q) -> kind w = Time \/ kind w = Tuple \/ kind w = Range) ->
  closure s = Closed -> closure s' = RightOpen -> close_rule s = Reached -> periodic s = None ->
  partial s = Suppressed -> t0 s = At t -> horizon s = HorizonAt h ->
  map seen (reports s q all) = map seen (reports s' (but_sizes (fun ω => ω + 1) q) all).
Proof.
  intros D K C C' R Pe Pa T H; apply same_windows_same_reports.
  - fewer D.
  - equate D; subst; exact I.
  - fewer D.
  - cbn [windows but_sizes]; rewrite map_map; apply Forall2_maps; intros w Hw; specialize (K w Hw); equate D; subst.
    assert (B : bordered (kind w) = true) by now destruct K as [->|[->| ->]].
    constructor; try reflexivity.
    + cbn; now right.
    + cbn; unfold first_instant, last_instant, low, high, slide, span; cbn; rewrite B.
      destruct K as [-> |[-> | ->]]; lia.
  - cbn [windows but_sizes]; rewrite map_map; apply Forall2_maps; intros w _ x; equate D; subst; reflexivity.
  - intros a; unfold own; destruct q as [[|w ws] ? ? ? ? ?]; cbn; [reflexivity|]; equate D; subst.
    now destruct (kind w), (element a).
  - unfold arrivals_of, horizon_of; equate D; subst; cbn; unfold elements_of; cbn; now rewrite map_map.
Qed.

(** "Windows closed by an arrival at c and by one past it, for `(]` and `[]`." *)
Theorem reached_is_passed s s' q all :
  differ_only_in [CloseRule_] s s' -> closure s <> RightOpen ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D C; apply same_windows_same_reports.
  - fewer D.
  - clear - D; equate D; match goal with |- match ?x with _ => _ end => now destruct x end.
  - fewer D.
  - apply Forall2_maps; intros w _; equate D; constructor; try reflexivity; [now left|].
    cbn; destruct (origin_of _ _ _ _); [split|]; reflexivity.
  - apply Forall2_maps; intros w _ x; equate D; reflexivity.
  - intros a; unfold own; equate D; destruct (windows q) as [|w ws]; cbn; [reflexivity|].
    destruct (kind w), (element a), close_rule, close_rule0, closure0; cbn; congruence.
  - equate D; reflexivity.
Qed.

Definition but_slides (f : Kind -> option Z -> option Z) (q : Query) : Query :=
  {| windows := map (fun w => {| on := on w; kind := kind w; size := size w; stated := f (kind w) (stated w);
                                 unit := unit w; by_ := by_ w; name := name w; triggers := triggers w;
                                 lag := lag w |}) (windows q);
     registered := registered q; operator := operator q; static := static q; patterns := patterns q;
     selected := selected q |}.
(** "A slide that is ignored, and a stated slide of 1." *)
Theorem ignored_is_a_slide_of_one s s' q all :
  differ_only_in [Slide_] s s' -> slide_choice s = Ignored -> slide_choice s' = Stated ->
  map seen (reports s q all) =
  map seen (reports s' (but_slides (fun k x => match k with Time | Range => Some 1 | _ => x end) q) all).
Proof.
  intros D G G'.
  set (alter := fun w => {| on := on w; kind := kind w; size := size w;
                            stated := match kind w with Time | Range => Some 1 | _ => stated w end; unit := unit w;
                            by_ := by_ w; name := name w; triggers := triggers w; lag := lag w |}).
  assert (Sl : forall w, slide s w = slide s' (alter w)).
  { intros w; unfold slide; cbn; rewrite G, G'; destruct (kind w), (stated w); reflexivity. }
  assert (Or : forall r w x, origin_of s r w x = origin_of s' r (alter w) x).
  { intros r w x; pose proof (Sl w) as E; unfold origin_of; rewrite <- E; clear E Sl; equate D; subst; reflexivity. }
  set (q' := but_slides _ q).
  assert (T1 : forall w, t1 (place s q all w) = t1 (place s' q' all (alter w)))
    by (intros; clear - D; equate D; reflexivity).
  assert (O : forall w, origin (place s q all w) = origin (place s' q' all (alter w))).
  { intros w; transitivity (origin_of s (registered q) w (t1 (place s q all w))); [reflexivity|].
    rewrite Or, T1; reflexivity. }
  apply same_windows_same_reports.
  - fewer D.
  - clear - D; equate D; match goal with |- match ?x with _ => _ end => now destruct x end.
  - fewer D.
  - unfold q'; cbn [windows but_slides]; rewrite map_map; apply Forall2_maps; intros w _; fold (alter w) q'.
    constructor; try reflexivity.
    + clear - D; equate D; reflexivity.
    + apply Sl.
    + now left.
    + unfold least; replace (partial s') with (partial s) by (clear - D; now equate D).
      cbn [win place]; rewrite <- Sl; reflexivity.
    + rewrite <- O; destruct (origin _); [|exact I]; unfold first_instant, last_instant.
      split; unfold low, high; replace (closure s') with (closure s) by (clear - D; now equate D); reflexivity.
  - unfold q'; cbn [windows but_slides]; rewrite map_map; apply Forall2_maps; intros w _; fold (alter w) q'.
    intros t; unfold is_periodic, border; rewrite <- O, <- T1; clear - D; equate D; reflexivity.
  - intros a; unfold q', own; clear - D; destruct q as [[|w ws] ? ? ? ? ?]; cbn; [reflexivity|]; equate D.
    now destruct (kind w).
  - unfold arrivals_of, q'; cbn [windows but_slides]; fold alter.
    assert (E : elements_of q all (admitted (lateness s)) =
                elements_of (but_slides (fun k x => match k with Time | Range => Some 1 | _ => x end) q) all (admitted (lateness s')))
      by (unfold elements_of; cbn; rewrite map_map; clear - D; equate D; reflexivity).
    rewrite <- E, map_map; cbn; f_equal.
    unfold horizon_of; replace (horizon s') with (horizon s) by (clear - D; now equate D).
    assert (Re : map (reach s) (windows q) = map (reach s') (map alter (windows q))).
    { rewrite map_map; apply map_ext; intros w; unfold reach; rewrite Sl; reflexivity. }
    match goal with |- context [map (reach s') ?l] => change l with (map alter (windows q)) end.
    rewrite <- Re; reflexivity.
Qed.

Definition but_units (u : Unit_) (q : Query) : Query :=
  {| windows := map (fun w => {| on := on w; kind := kind w; size := size w; stated := stated w; unit := u;
                                 by_ := by_ w; name := name w; triggers := triggers w; lag := lag w |}) (windows q);
     registered := registered q; operator := operator q; static := static q; patterns := patterns q;
     selected := selected q |}.
Lemma in_insert f (e x : Element) es : In e (insert f x es) <-> e = x \/ In e es.
Proof.
  induction es as [|y es IH]; cbn; [intuition congruence|].
  destruct (f x y); cbn; [rewrite IH|]; intuition congruence.
Qed.
Lemma in_sort f (e : Element) es : In e (sort f es) <-> In e es.
Proof. induction es as [|x es IH]; cbn; [reflexivity|]; rewrite in_insert, IH; intuition congruence. Qed.
Lemma in_split d e earlier es : In e (fst (split_late d earlier es)) -> In e es.
Proof.
  revert earlier; induction es as [|x es IH]; intros earlier; cbn; [auto|].
  specialize (IH (earlier ++ [x])); destruct (split_late d (earlier ++ [x]) es) as [a b]; cbn in IH.
  destruct (is_late d x earlier); cbn; intuition.
Qed.
Lemma in_admitted d e es : In e (admitted d es) -> In e es.
Proof. unfold admitted; rewrite in_sort; apply in_split. Qed.
(** "Ids that count elements, and triples, where every element has one." *)
Theorem ids_of_elements_are_ids_of_triples s q all :
  (forall e, In e all -> length (graph e) = 1%nat) ->
  map seen (reports s (but_units PerElement q) all) = map seen (reports s (but_units PerTriple q) all).
Proof.
  intros G.
  assert (I : forall w n, let es := admitted (lateness s) (filter (fun e => stream e =? on w) all) in
    ids_from {| on := on w; kind := kind w; size := size w; stated := stated w; unit := PerElement; by_ := by_ w;
                name := name w; triggers := triggers w; lag := lag w |} n es =
    ids_from {| on := on w; kind := kind w; size := size w; stated := stated w; unit := PerTriple; by_ := by_ w;
                name := name w; triggers := triggers w; lag := lag w |} n es).
  { intros w n; cbv zeta.
    assert (M : forall e, In e (admitted (lateness s) (filter (fun e => stream e =? on w) all)) -> length (graph e) = 1%nat)
      by (intros e He; apply in_admitted, filter_In in He as [He _]; auto).
    revert n M; generalize (admitted (lateness s) (filter (fun e => stream e =? on w) all)); intros es.
    induction es as [|e es IH]; intros n M; cbn; [reflexivity|].
    unfold weight; cbn [unit]; rewrite (M e) by now left; change (Z.of_nat 1) with 1.
    f_equal; apply IH; intros; apply M; now right. }
  apply same_windows_same_reports.
  - repeat split.
  - now destruct (periodic s).
  - repeat split.
  - cbn [windows but_units]; rewrite !map_map; apply Forall2_maps; intros w _; cbn.
    unfold place; cbn [on]; rewrite (I w).
    constructor; try reflexivity; [now left|].
    apply equal_origins; [reflexivity|]; intros; split; reflexivity.
  - cbn [windows but_units]; rewrite !map_map; apply Forall2_maps; intros w _ t; cbn.
    unfold place; cbn [on]; rewrite (I w); reflexivity.
  - intros x; unfold own; cbn; destruct (windows q) as [|w ws]; cbn; [reflexivity|].
    cbn [on]; now rewrite (I w).
  - unfold arrivals_of, elements_of; cbn; rewrite !map_map; cbn; f_equal.
    unfold horizon_of; cbn; rewrite !map_map; reflexivity.
Qed.
