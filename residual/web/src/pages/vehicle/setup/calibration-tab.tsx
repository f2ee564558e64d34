import { AlignCenterHorizontal, Compass, Gauge, type IconNode, MoveVertical, Play, Rotate3d } from 'lucide';
import type { JSX } from 'preact';
import { CALIBRATION_SENSORS } from '../../../../../../shared/flight/calibration.ts';
import { call } from '../../../api/client.ts';
import { may } from '../../../api/node.ts';
import type { Answer } from '../../../api/rows.ts';
import { moment } from '../../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../../parts/guarded.tsx';
import { Asked, Badge, Button, Card, ErrorNote, Icon, Note, Progress } from '../../../parts/parts.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { RebootAutopilot } from '../params/reboot.tsx';
import css from '../vehicle.module.css';

const LOOK_MS = 700;
const ICONS: Readonly<Record<(typeof CALIBRATION_SENSORS)[number], IconNode>> = {
  accelerometer: MoveVertical,
  compass: Compass,
  gyro: Rotate3d,
  level: AlignCenterHorizontal,
  barometer: Gauge,
};
const TONE = { done: 'good', failed: 'bad', cancelled: 'warn' } as const;

/** The sensors, and the calibration that runs in the vehicle's own words. */
export function CalibrationTab(): JSX.Element {
  const asked = useAsk('calibration.get', {}, LOOK_MS);
  const { data: state, reload } = asked;
  const act = useGuarded();
  const running = state?.running === true;
  const begin = async (sensor: (typeof CALIBRATION_SENSORS)[number]): Promise<void> => {
    await act.run(async (force) => call('calibration.post', { body: forced(force, { sensor }) }));
    reload();
  };
  return (
    <div class="page">
      {state === null || state.sensor === null ? null : (
        <Card
          wide
          title={t.vehicle.calibration.title({ sensor: t.vehicle.calibration.sensors[state.sensor].name })}
        >
          <Running state={state} onChange={reload} />
        </Card>
      )}
      <Card wide title={t.vehicle.calibration.choose}>
        <Asked of={asked} />
        <GuardNote act={act} />
        {running ? <Note>{t.vehicle.calibration.one}</Note> : null}
        <ul class={css['tiles']}>
          {CALIBRATION_SENSORS.map((sensor) => (
            <li key={sensor}>
              <Icon of={ICONS[sensor]} />
              <strong>{t.vehicle.calibration.sensors[sensor].name}</strong>
              <p class="hint">{t.vehicle.calibration.sensors[sensor].how}</p>
              <Button
                row="calibration.post"
                explain
                busy={act.busy}
                icon={Play}
                why={running ? '' : null}
                onClick={() => void begin(sensor)}
                aria-label={t.vehicle.calibration.beginOf({
                  sensor: t.vehicle.calibration.sensors[sensor].name,
                })}
              >
                {t.vehicle.calibration.begin}
              </Button>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

function Running({
  state,
  onChange,
}: {
  state: Answer<'calibration.get'>;
  onChange: () => void;
}): JSX.Element {
  const { run, busy, error } = useAct();
  const { running, sensor, step, poses, confirm, text, percent, result, steps } = state;
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    await run(work);
    onChange();
  };
  return (
    <>
      {running ? (
        <Progress
          label={step === null ? t.app.loading : t.vehicle.calibration.steps[step]}
          value={percent === null ? null : percent / 100}
        />
      ) : null}
      {result === null ? null : (
        <p>
          <Badge tone={TONE[result]}>{t.vehicle.calibration.results[result]}</Badge> {moment(state.ended_at)}
        </p>
      )}
      {text === null ? null : (
        <p class={css['big']} role="status">
          {text}
        </p>
      )}
      {state.reboot_required ? (
        <Note tone="warn">
          {t.vehicle.calibration.reboot} <RebootAutopilot />
        </Note>
      ) : null}
      <ErrorNote error={error} />
      {running && may('calibration.post') ? (
        <div class="row">
          {confirm && sensor !== null
            ? poses.map((pose) => (
                <Button
                  key={pose}
                  kind="primary"
                  busy={busy}
                  onClick={() =>
                    void act(async () => call('calibration.post', { body: { sensor, confirm: pose } }))
                  }
                >
                  {t.vehicle.calibration.lies({ pose: t.vehicle.calibration.poses[pose] })}
                </Button>
              ))
            : poses.map((pose) => <Badge key={pose}>{t.vehicle.calibration.poses[pose]}</Badge>)}
          <Button
            row="calibration.delete"
            busy={busy}
            onClick={() => void act(async () => call('calibration.delete'))}
          >
            {t.app.cancel}
          </Button>
        </div>
      ) : null}
      {steps.length === 0 ? null : (
        <details>
          <summary>{t.vehicle.calibration.words({ count: steps.length })}</summary>
          <ol>
            {steps.map((line, index) => (
              <li key={index}>{line}</li>
            ))}
          </ol>
        </details>
      )}
    </>
  );
}
