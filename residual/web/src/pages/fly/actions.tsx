import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CommandName } from '../../../../../shared/flight/command-catalogue.ts';
import { modeChoices } from '../../../../../shared/flight/modes.ts';
import { armed, fresh, newest } from '../../api/telemetry.ts';
import { distance } from '../../map/projection.ts';
import { number } from '../../parts/format.ts';
import { Button, Card, Field, HoldButton, Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { ALWAYS, type Commands, type Order, readiness, useCommands, useOtherPilot } from './commands.ts';
import css from './fly.module.css';
import { target } from './map/state.ts';
import { family, flies, lastPlace } from './vehicle-state.ts';

const TAKEOFF_M = 10;
const STOP_HOLD_MS = 400;
const KILL_HOLD_MS = 2000;
const FAR_HOLD_MS = 2000;

/** What a pilot can tell the vehicle to do. */
export function Actions(): JSX.Element {
  const otherPilot = useOtherPilot();
  const commands = useCommands(otherPilot);
  const { running, outcome, offers } = commands;
  return (
    <Card title={t.fly.actions}>
      {otherPilot === null ? null : <Note tone="warn">{t.fly.why.notPilot(otherPilot)}</Note>}
      <div class={css['actions']}>
        {armed.value === true ? (
          <HeldOrder commands={commands} name={t.fly.disarm} order={{ cmd: 'disarm' }} />
        ) : (
          <HeldOrder commands={commands} name={t.fly.arm} order={{ cmd: 'arm' }} />
        )}
        {flies.value ? <HeldOrder commands={commands} name={t.fly.land} order={{ cmd: 'land' }} /> : null}
        <HeldOrder commands={commands} name={t.fly.rtl} order={{ cmd: 'rtl' }} />
        <HeldOrder
          commands={commands}
          name={t.fly.stop}
          order={{ cmd: 'stop' }}
          kind="primary"
          holdMs={STOP_HOLD_MS}
        />
      </div>
      <Arming commands={commands} />
      <div class="outcome" role={outcome?.tone === 'bad' ? 'alert' : 'status'}>
        {running !== null ? (
          <p class="note info">{t.fly.sending(running)}</p>
        ) : outcome === null ? (
          <p class="hint">{t.fly.hold}</p>
        ) : (
          <p class={`note ${outcome.tone}`}>{outcome.text}</p>
        )}
      </div>
      {outcome?.far === undefined ? null : <GoFar commands={commands} order={outcome.far} />}
      {flies.value && offers('takeoff') ? <Takeoff commands={commands} /> : null}
      {offers('goto') ? <GoThere commands={commands} /> : null}
      <More commands={commands} />
    </Card>
  );
}

/** What speaks against arming, and by one tap what takes it away; a vehicle that is not armed does not move by it. */
function Arming({
  commands: { give, whyNot, running },
}: {
  readonly commands: Commands;
}): JSX.Element | null {
  const ready = readiness();
  if (ready === null || ready.help.length === 0) return null;
  return (
    <Note tone="warn">
      {ready.reasons.join('; ')}{' '}
      {ready.help.map(({ cmd, args }) => (
        <Button
          key={args.join()}
          row="command.post"
          busy={running !== null}
          why={whyNot(cmd)}
          onClick={() => give(t.fly.switchTo(args.join(' ')), { cmd, args })}
        >
          {t.fly.switchTo(args.join(' '))}
        </Button>
      ))}
    </Note>
  );
}

/** A command that is given by holding its button. */
function HeldOrder({
  commands: { give, whyNot, running, offers },
  name,
  order,
  before = [],
  kind = 'plain',
  holdMs,
  why = null,
}: {
  readonly commands: Commands;
  readonly name: string;
  readonly order: Order;
  /** What must be done first. */
  readonly before?: readonly Order[];
  readonly kind?: 'plain' | 'primary' | 'danger';
  readonly holdMs?: number;
  readonly why?: string | null;
}): JSX.Element | null {
  if (!offers(order.cmd)) return null;
  return (
    <HoldButton
      row="command.post"
      kind={kind}
      busy={running !== null && !ALWAYS.has(order.cmd)}
      why={whyNot(order.cmd) ?? why}
      {...(holdMs === undefined ? {} : { holdMs })}
      onConfirm={() => give(name, ...before, order)}
    >
      {name}
    </HoldButton>
  );
}

function Unfold({
  title,
  open,
  children,
}: {
  readonly title: string;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <details {...(open === undefined ? {} : { open })}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function Takeoff({ commands }: { readonly commands: Commands }): JSX.Element {
  const [text, setText] = useState(String(TAKEOFF_M));
  const height = Number(text);
  const valid = text.trim() !== '' && height >= 1 && height <= 500;
  const arms = armed.value === false;
  return (
    <Unfold title={t.fly.takeoff}>
      <Field label={t.fly.takeoffHeight}>
        {(ids) => (
          <input
            {...ids}
            type="number"
            inputMode="decimal"
            min={1}
            max={500}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <HeldOrder
        commands={commands}
        kind="primary"
        name={t.fly.takeoffNow(valid ? number(height) : t.app.none, arms)}
        order={{ cmd: 'takeoff', args: [height] }}
        before={arms ? [{ cmd: 'arm' }] : []}
        why={valid ? null : t.fly.why.number}
      />
    </Unfold>
  );
}

/** To a place that was tapped on the map or is typed in. */
function GoThere({ commands }: { readonly commands: Commands }): JSX.Element {
  const { lat, lon } = target.value ?? { lat: '', lon: '' };
  const now = fresh('position', ({ position }) => position.alt_rel);
  const [text, setText] = useState<string | null>(null);
  const shown = text ?? (now === null ? '' : String(Math.max(1, Math.round(now))));
  const height = Number(shown);
  const place = { lat: Number(lat), lon: Number(lon) };
  const valid =
    lat !== '' &&
    lon !== '' &&
    shown.trim() !== '' &&
    [place.lat, place.lon, height].every(Number.isFinite) &&
    Math.abs(place.lat) <= 90 &&
    Math.abs(place.lon) <= 180;
  const change = (next: { lat?: string; lon?: string }): void => {
    target.value = { lat, lon, ...next };
  };
  return (
    <Unfold title={t.fly.goto} {...(target.value === null ? {} : { open: true })}>
      <p class="hint">{t.fly.gotoHint}</p>
      <div class={css['pair']}>
        <Field label={t.fly.lat}>
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              value={lat}
              onInput={(e) => change({ lat: e.currentTarget.value })}
            />
          )}
        </Field>
        <Field label={t.fly.lon}>
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              value={lon}
              onInput={(e) => change({ lon: e.currentTarget.value })}
            />
          )}
        </Field>
      </div>
      <Field label={t.fly.gotoHeight}>
        {(ids) => (
          <input
            {...ids}
            type="number"
            inputMode="decimal"
            value={shown}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      {valid && lastPlace.value !== null ? (
        <p class="hint">{t.fly.gotoFar(number(distance(lastPlace.value, place)))}</p>
      ) : null}
      <HeldOrder
        commands={commands}
        kind="primary"
        name={t.fly.gotoNow}
        order={{ cmd: 'goto', args: [place.lat, place.lon, height] }}
        why={valid ? null : t.fly.why.number}
      />
    </Unfold>
  );
}

/** What was refused for its distance: the button names the place, as another one may be in the fields by now. */
function GoFar({ commands, order }: { readonly commands: Commands; readonly order: Order }): JSX.Element {
  const [lat = '', lon = ''] = order.args ?? [];
  return (
    <HeldOrder
      commands={commands}
      kind="danger"
      name={t.fly.goFar(String(lat), String(lon))}
      order={order}
      holdMs={FAR_HOLD_MS}
    />
  );
}

function More({ commands }: { readonly commands: Commands }): JSX.Element {
  const modes = family.value === null ? [] : modeChoices(family.value);
  const current = fresh('heartbeat', (body) => body.mode);
  const [chosen, setChosen] = useState<string | null>(null);
  const mode = chosen ?? current ?? modes[0] ?? '';
  const noMission = (newest.value?.mission?.total ?? 0) > 0 ? null : t.fly.why.noMission;
  const plain: readonly (readonly [CommandName, string, string | null])[] = [
    ['missionStart', t.fly.missionStart, noMission],
    ['pauseMission', t.fly.pauseMission, noMission],
    ['resumeMission', t.fly.resumeMission, noMission],
    ['setHome', t.fly.setHome, null],
  ];
  return (
    <>
      <Unfold title={t.fly.more}>
        {modes.length === 0 ? null : (
          <div class={css['mode-choice']}>
            <Field label={t.fly.mode}>
              {(ids) => (
                <select {...ids} value={mode} onChange={(event) => setChosen(event.currentTarget.value)}>
                  {(current !== null && !modes.includes(current) ? [current, ...modes] : modes).map(
                    (name) => (
                      <option key={name} value={name}>
                        {name}
                      </option>
                    ),
                  )}
                </select>
              )}
            </Field>
            <HeldOrder commands={commands} name={t.fly.modeSet} order={{ cmd: 'mode', args: [mode] }} />
          </div>
        )}
        <div class={css['actions']}>
          {plain.map(([cmd, name, why]) => (
            <HeldOrder key={cmd} commands={commands} name={name} order={{ cmd }} why={why} />
          ))}
        </div>
      </Unfold>
      {commands.offers('killSwitch') ? (
        <Unfold title={t.fly.kill}>
          <p class="error">{t.fly.killHint}</p>
          <HeldOrder
            commands={commands}
            kind="danger"
            name={t.fly.killNow}
            order={{ cmd: 'killSwitch', args: ['KILL'] }}
            holdMs={KILL_HOLD_MS}
          />
        </Unfold>
      ) : null}
    </>
  );
}
