import { ArrowLeft, X } from 'lucide';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Menu } from '../../app/menu.tsx';
import { MenuButton } from '../../app/menu-button.tsx';
import { go, place } from '../../app/route.ts';
import { Asked, Button, ErrorNote, Icon, Note } from '../../parts/parts.tsx';
import { Restarts } from '../../parts/restart.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { claimed } from './claim.tsx';
import css from './setup.module.css';
import { CONFIRMABLE, mark, type Step, type StepId, type StepProps } from './status.ts';
import { STEP_ICONS } from './step-icons.ts';
import { CameraStep } from './steps/camera.tsx';
import { FcStep } from './steps/fc.tsx';
import { FinishStep } from './steps/finish.tsx';
import { NameStep } from './steps/name.tsx';
import { NetworkStep } from './steps/network.tsx';
import { PairingStep } from './steps/pairing.tsx';
import { PinStep } from './steps/pin.tsx';
import { ProfileStep } from './steps/profile.tsx';
import { RadioStep } from './steps/radio.tsx';
import { RegionStep } from './steps/region.tsx';
import { inOrder, onTheWay, visit, wayOf } from './way.ts';

const LOOK_MS = 5000;

const STEPS: Readonly<Record<StepId, ComponentType<StepProps>>> = {
  name: NameStep,
  profile: ProfileStep,
  pin: PinStep,
  fc: FcStep,
  camera: CameraStep,
  radio: RadioStep,
  network: NetworkStep,
  region: RegionStep,
  pairing: PairingStep,
  finish: FinishStep,
};

/** The first set-up, one question a screen. How far it is stands on the node, so it survives everything. */
export default function Setup(): JSX.Element {
  const told = useAsk('setup.status.get', {}, LOOK_MS);
  const { data, reload } = told;
  const [asked] = place.value.rest;
  const steps = inOrder(data?.steps ?? []).filter(({ state }) => state !== 'not_applicable');
  // A key that was not stored yet comes before everything.
  const wanted = claimed.value === null ? asked : 'pairing';
  const way = wayOf(steps, wanted);
  const current =
    steps.find(({ id }) => id === wanted) ??
    (data?.finished === true ? undefined : way.find(onTheWay)) ??
    steps.find(({ id }) => id === 'finish');
  const held = claimed.value === null ? null : t.setup.pairing.storeFirst;
  const at = current === undefined ? -1 : way.indexOf(current);
  const before = at === -1 ? way.at(-1) : way[at - 1];
  return (
    <div class={css['setup']}>
      <header>
        {before === undefined || data === null ? (
          <span class={css['no-way']} />
        ) : (
          <Button
            kind="quiet"
            icon={ArrowLeft}
            why={held}
            aria-label={t.setup.back}
            onClick={() => go('setup', before.id)}
          />
        )}
        <Progress at={at === -1 ? way.length : at} of={way.length} done={current?.id === 'finish'} />
        <MenuButton title={t.app.menu}>
          <Menu pages={[]} />
        </MenuButton>
        <Button kind="quiet" icon={X} why={held} aria-label={t.setup.leave} onClick={() => go('fly')} />
      </header>
      <Asked of={told} />
      {current === undefined ? null : <Question key={current.id} step={current} way={way} reload={reload} />}
    </div>
  );
}

function Progress({
  at,
  of,
  done,
}: {
  readonly at: number;
  readonly of: number;
  readonly done: boolean;
}): JSX.Element {
  const now = done ? of : at + 1;
  return (
    <div class={css['progress']}>
      <div
        class={css['track']}
        role="progressbar"
        aria-label={t.setup.steps}
        aria-valuemin={0}
        aria-valuemax={of}
        aria-valuenow={now}
      >
        <span style={{ width: `${of === 0 ? 0 : (100 * now) / of}%` }} />
      </div>
      <span>{done ? t.setup.done : t.setup.progress({ now, all: of })}</span>
    </div>
  );
}

function Question({
  step,
  way,
  reload,
}: {
  readonly step: Step;
  readonly way: readonly Step[];
  readonly reload: () => void;
}): JSX.Element {
  const { busy, error, run } = useAct();
  const heading = useRef<HTMLHeadingElement>(null);
  const { id, state, detail } = step;
  const held = id === 'pairing' && claimed.value !== null;
  const next = (): void => {
    reload();
    go('setup', way.slice(way.indexOf(step) + 1).find(onTheWay)?.id ?? 'finish');
  };
  const complete = async (): Promise<void> => {
    if (CONFIRMABLE.has(id)) await mark(id, 'complete');
    next();
  };
  const skip = (): void => {
    void run(async () => {
      if (state !== 'skipped') await mark(id, 'skip');
      next();
    });
  };
  useEffect(() => visit(id), []);
  // Whoever comes by keyboard or screen reader stands at the new question, also where it goes on in two parts.
  useEffect(() => heading.current?.focus({ preventScroll: true }), [held]);
  const Body = STEPS[id];
  return (
    <div class={css['one-step']}>
      <div class={css['ask']}>
        <span class={css['disc']}>
          <Icon of={STEP_ICONS[id]} />
        </span>
        <h2 ref={heading} tabIndex={-1}>
          {t.setup.step[id].title}
        </h2>
        <p>{t.setup.step[id].why}</p>
      </div>
      {RESTARTED.has(id) ? <Restarts /> : null}
      {TOLD.has(id) && state === 'needs_action' ? <Note>{detail}</Note> : null}
      <Body step={step} reload={reload} complete={complete} />
      <ErrorNote error={error} />
      <div class={css['onward']}>
        {SEEN.has(id) && state === 'complete' && !held ? (
          <Button kind="primary" onClick={next}>
            {id === 'fc' ? t.setup.use : t.setup.next}
          </Button>
        ) : null}
        {/* Its room stays where there is nothing to skip, so that what goes on is always in one place. */}
        <div class={css['skip']}>
          {id === 'finish' || held || state === 'complete' ? null : (
            <Button kind="quiet" row="setup.step.id.post" busy={busy} onClick={skip}>
              {t.setup.skip}
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

/** Of these the node sees by itself whether they are done, and there is nothing to send. */
const SEEN: ReadonlySet<StepId> = new Set(['fc', 'camera', 'radio', 'network', 'pairing']);

/** Here it counts what must restart: the radio binds only when it runs. The end restarts the rest by itself. */
const RESTARTED: ReadonlySet<StepId> = new Set(['radio']);

/** Of these it says what it sees, as the question alone would not. */
const TOLD: ReadonlySet<StepId> = new Set(['camera', 'radio', 'network']);
