import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { parseOperatorPlace } from '../../../../../../shared/flight/remote-id.ts';
import { call } from '../../../api/client.ts';
import { denied } from '../../../api/node.ts';
import { now } from '../../../api/presence.ts';
import { hrefOf } from '../../../app/route.ts';
import { number, span } from '../../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote, Field, Note } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { follow, following, told, trouble } from '../../../vehicle/operator-place.ts';
import css from '../vehicle.module.css';

const LOOK_MS = 2000;
const TONES = { absent: 'info', ready: 'good', not_ready: 'bad' } as const;
const words = t.vehicle.remoteId;

/** What the Remote ID transmitter says, who flies, and where the operator stands. */
export function RemoteId(): JSX.Element {
  const asked = useAsk('remote-id.get', {}, LOOK_MS);
  const { data, reload } = asked;
  return (
    <Card title={words.title}>
      <Asked of={asked} />
      {data === null ? null : (
        <>
          <p>
            <Badge tone={TONES[data.state]}>{words.states[data.state]}</Badge>
          </p>
          {data.reasons.map((reason) => (
            <Note key={reason} tone="warn">
              {words.says({ reason })}
            </Note>
          ))}
          <p>
            {data.operator_id_set ? words.numberSet : words.numberMissing}{' '}
            <a href={hrefOf('node', 'config')}>{words.toConfig}</a>
          </p>
          <p>{words.places[data.operator_place ?? 'none']}</p>
        </>
      )}
      {denied('remote-id.operator-place.put') === null ? (
        <>
          <DevicePlace />
          <TypedPlace onSent={reload} />
        </>
      ) : null}
    </Card>
  );
}

/** The place of this device, where the browser tells it. */
function DevicePlace(): JSX.Element {
  if (!isSecureContext)
    return (
      <p class="hint">
        {words.insecure} <a href={hrefOf('access')}>{words.toAccess}</a>
      </p>
    );
  if (!('geolocation' in navigator)) return <p class="hint">{words.noGeolocation}</p>;
  const newest = told.value;
  return (
    <>
      <label class={css['tick']}>
        <input
          type="checkbox"
          checked={following.value}
          onChange={(event) => follow(event.currentTarget.checked)}
        />{' '}
        {words.follow}
      </label>
      <p class="hint">{words.followHint}</p>
      {trouble.value === null ? null : <Note tone="bad">{trouble.value}</Note>}
      {newest === null ? null : (
        <p>
          {words.told({
            age: span(Math.max(0, now.value - newest.at) / 1000),
            accuracy: number(newest.accuracyM),
          })}
        </p>
      )}
      {following.value && newest === null && trouble.value === null ? <p>{words.waiting}</p> : null}
    </>
  );
}

/** A place that somebody types in. */
function TypedPlace({ onSent }: { readonly onSent: () => void }): JSX.Element {
  const { run, busy, error } = useAct();
  const [text, setText] = useState('');
  const place = parseOperatorPlace(text.replaceAll(/\s/g, ''));
  const send = async (): Promise<void> => {
    if (place === null) return;
    const { alt, ...where } = place;
    await call('remote-id.operator-place.put', { body: alt === null ? where : { ...where, alt } });
    say(words.sent, 'good');
    onSent();
  };
  const isWrong = text.trim() !== '' && place === null;
  return (
    <>
      <Field label={words.typed} hint={words.typedHint} error={isWrong ? words.typedWrong : null}>
        {(ids) => (
          <input
            {...ids}
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <ErrorNote error={error} />
      <Button
        row="remote-id.operator-place.put"
        busy={busy}
        why={following.value ? words.followed : place === null ? words.typeFirst : null}
        onClick={() => void run(send)}
      >
        {words.send}
      </Button>
    </>
  );
}
