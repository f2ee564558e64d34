import { Bot, PenLine, X } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { info } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { confirmWords } from '../../app/confirm-words.ts';
import { useBase } from '../../map/base.tsx';
import { Line, Marker, Vehicle } from '../../map/layers.tsx';
import { Map } from '../../map/map.tsx';
import { distance, type Place, type View, viewOf } from '../../map/projection.ts';
import { number } from '../../parts/format.ts';
import { Asked, Button, Card, ErrorNote, Note, SlideConfirm } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { here } from '../../vehicle/vehicle-state.ts';
import css from './access.module.css';

type Waiting = Answer<'confirmations.id.get'>;

const LOOK_MS = 2000;
const MAP_PX = 256;

/** One call of a program, whole, for the person who stands beside the aircraft: what, where, and a signature or none. */
export default function Confirm({ code }: { readonly code: string }): JSX.Element {
  const asked = useAsk('confirmations.id.get', { params: { id: code } }, LOOK_MS);
  const { data, error, reload } = asked;
  const text = confirmWords;
  const gone = error?.code === 'E_NOT_FOUND';
  return (
    <Card title={text.title({ node: info.value?.name ?? '' })} icon={Bot} wide>
      {gone ? <Note>{text.gone}</Note> : <Asked of={asked} />}
      {data === null || gone ? null : <Shown waiting={data} onAnswered={reload} />}
    </Card>
  );
}

function Shown({
  waiting,
  onAnswered,
}: {
  readonly waiting: Waiting;
  readonly onAnswered: () => void;
}): JSX.Element {
  const { code, tool, args, summary, place, call_hash, asked_by: who, state } = waiting;
  const act = useAct();
  const text = confirmWords;
  const answer = (agree: boolean): void => {
    void act.run(async () => {
      await call('confirmations.id.sign.post', { params: { id: code }, body: { agree, call_hash } });
      onAnswered();
    });
  };
  return (
    <>
      <p>{text.asks({ who })}</p>
      <p class={css['figure']}>
        <bdi>{tool}</bdi>
      </p>
      {summary === null ? null : <pre class={css['said']}>{summary}</pre>}
      <Arguments text={args} />
      {place === null ? null : <Where place={place} />}
      <ErrorNote error={act.error} />
      {state === 'waiting' ? (
        <div class={css['answers']}>
          <p class="hint">{text.left({ seconds: waiting.expires_in_s })}</p>
          <Button icon={X} busy={act.busy} row="confirmations.id.sign.post" onClick={() => answer(false)}>
            {text.refuse}
          </Button>
          <SlideConfirm
            kind="danger"
            icon={PenLine}
            busy={act.busy}
            way={text.way}
            row="confirmations.id.sign.post"
            onConfirm={() => answer(true)}
          >
            {text.sign}
          </SlideConfirm>
        </div>
      ) : (
        <Note tone={state === 'signed' ? 'good' : 'warn'}>
          {state === 'signed' ? text.signed : text.refused}
        </Note>
      )}
    </>
  );
}

/** Words of the program, as text alone. */
function Arguments({ text }: { readonly text: string }): JSX.Element | null {
  const rows = rowsOf(text);
  if (rows.length === 0) return null;
  return (
    <dl class={`stats ${css['args']}`}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function rowsOf(text: string): readonly (readonly [string, string])[] {
  let args: unknown;
  try {
    args = JSON.parse(text);
  } catch {
    return [['', text]]; // it is shown all the same
  }
  if (typeof args !== 'object' || args === null) return [['', text]];
  return Object.entries(args).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
}

function Where({ place }: { readonly place: Place }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const { base } = useBase();
  const [view, setView] = useState<View | null>(null);
  const from = here.value;
  const hasFrom = from !== null;
  useEffect(() => {
    const { clientWidth = 300 } = box.current ?? {};
    setView(viewOf(from === null ? [place] : [from, place], clientWidth, MAP_PX));
  }, [place.lat, place.lon, hasFrom]);
  const text = confirmWords;
  return (
    <>
      <div class={css['map']} ref={box}>
        {view === null ? null : (
          <Map label={text.map} view={view} onView={setView} base={base}>
            {from === null ? null : <Line places={[from, place]} kind="aim" />}
            {from === null ? null : <Vehicle at={from} heading={null} />}
            <Marker at={place} text="+" kind="target" />
          </Map>
        )}
      </div>
      <p>
        {from === null ? text.noVehicle : text.away({ metres: number(Math.round(distance(from, place))) })}
      </p>
    </>
  );
}
