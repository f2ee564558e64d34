import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { go, hrefOf, place } from '../../app/route.ts';
import { Badge, Button, Card, ErrorNote, Note } from '../../parts/parts.tsx';
import { Restarts } from '../../parts/restart.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { claimed } from './claim.tsx';
import css from './setup.module.css';
import { CONFIRMABLE, mark, type Step, type StepId, type StepProps } from './status.ts';
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

/** The first set-up, one step at a time. How far it is stands on the node, so it survives everything. */
export default function Setup(): JSX.Element {
  const { data, error, reload } = useAsk('setup.status.get', {}, LOOK_MS);
  const [asked] = place.value.rest;
  if (data === null)
    return (
      <div class={css['setup']}>
        <ErrorNote error={error} onRetry={reload} />
        {error === null ? <p class="first">{t.app.loading}</p> : null}
      </div>
    );
  const steps = data.steps.filter(({ state }) => state !== 'not_applicable');
  // A key that was not stored yet comes before everything.
  const wanted = claimed.value === null ? (asked ?? data.next) : 'pairing';
  const current = steps.find(({ id }) => id === wanted) ?? steps.at(-1);
  return (
    <div class={css['setup']}>
      <Way steps={steps} current={current?.id ?? 'finish'} />
      <Restarts />
      {current === undefined ? null : (
        <OneStep key={current.id} step={current} steps={steps} reload={reload} />
      )}
    </div>
  );
}

/** How far it is; each step can be gone to. */
function Way({ steps, current }: { steps: readonly Step[]; current: StepId }): JSX.Element {
  const done = steps.filter(({ state }) => state === 'complete' || state === 'skipped').length;
  return (
    <nav aria-label={t.setup.steps}>
      <p class="hint">{t.setup.progress(done, steps.length)}</p>
      <ol class={css['way']}>
        {steps.map(({ id, state }) => (
          <li key={id}>
            <a href={hrefOf('setup', id)} class={state} aria-current={id === current ? 'step' : undefined}>
              {t.setup.step[id].name}
              <span class="visually-hidden"> ({t.setup.state[state]})</span>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function OneStep({
  step,
  steps,
  reload,
}: {
  step: Step;
  steps: readonly Step[];
  reload: () => void;
}): JSX.Element {
  const { busy, error, run } = useAct();
  const box = useRef<HTMLDivElement>(null);
  const at = steps.indexOf(step);
  const [before, after] = [steps[at - 1], steps[at + 1]];
  const { id, state, detail } = step;
  const held = id === 'pairing' && claimed.value !== null ? t.setup.pairing.storeFirst : null;
  const next = (): void => {
    reload();
    if (after !== undefined) go('setup', after.id);
  };
  const complete = async (): Promise<void> => {
    if (CONFIRMABLE.has(id)) await mark(id, 'complete');
    next();
  };
  // Whoever comes by keyboard or screen reader stands at the new step.
  useEffect(() => box.current?.focus({ preventScroll: true }), []);
  const Body = STEPS[id];
  return (
    <div ref={box} tabIndex={-1} class={css['one-step']}>
      <Card
        title={t.setup.step[id].title}
        actions={
          <Badge tone={state === 'complete' ? 'good' : state === 'needs_action' ? 'warn' : 'info'}>
            {t.setup.state[state]}
          </Badge>
        }
      >
        <p>{t.setup.step[id].why}</p>
        {id === 'finish' ? null : <Note tone={state === 'complete' ? 'good' : 'info'}>{detail}</Note>}
        <Body step={step} reload={reload} complete={complete} />
        <ErrorNote error={error} />
        <div class={`row ${css['onward']}`}>
          {before === undefined ? null : (
            <Button why={held} onClick={() => go('setup', before.id)}>
              {t.setup.back}
            </Button>
          )}
          <span class="spring" />
          {state === 'skipped' ? (
            <Button
              row="setup.step.id.post"
              busy={busy}
              onClick={() => void run(async () => mark(id, 'undo')).then(reload)}
            >
              {t.setup.undo}
            </Button>
          ) : null}
          {id === 'finish' || state === 'complete' ? null : (
            <Button
              row="setup.step.id.post"
              busy={busy}
              why={held}
              onClick={() =>
                void run(async () => {
                  if (state !== 'skipped') await mark(id, 'skip');
                  next();
                })
              }
            >
              {t.setup.skip}
            </Button>
          )}
          {after !== undefined && state === 'complete' ? (
            <Button kind="primary" why={held} onClick={next}>
              {t.setup.next}
            </Button>
          ) : null}
        </div>
      </Card>
    </div>
  );
}
