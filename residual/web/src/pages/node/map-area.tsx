import { CloudDownload, Crosshair, Square } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, Refused } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { fresh } from '../../api/telemetry.ts';
import css from '../../network/node.module.css';
import { bytes } from '../../parts/format.ts';
import { Button, Card, ErrorNote, Field, Note, Progress } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { areaBounds, DETAILS, type Detail, zoomsOf } from './map-area-bounds.ts';

type Source = Answer<'maps.get'>['sources'][number];

/** While somebody types. */
const PAUSE_MS = 400;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;

/** The area around a place becomes a map file; its size is told before. */
export function MapArea({
  sources,
  onDone,
}: {
  readonly sources: readonly Source[];
  readonly onDone: () => void;
}): JSX.Element {
  const text = t.node.maps.area;
  const [id, setId] = useState(sources[0]?.id ?? '');
  const [place, setPlace] = useState('');
  const [radius, setRadius] = useState('2');
  const [detail, setDetail] = useState<Detail>('field');
  const [name, setName] = useState('');
  const act = useAct();
  const source = sources.find((each) => each.id === id) ?? sources[0];
  const bounds = areaBounds(place, Number(radius));
  const zooms = source === undefined ? null : zoomsOf(source, detail);
  const order =
    source === undefined || bounds === null || zooms === null
      ? null
      : {
          source: source.id,
          bbox: bounds,
          ...zooms,
          name: NAME.test(name) ? `${name}.pmtiles` : 'area.pmtiles',
        };
  const { estimate, error } = useEstimate(order);
  const use = (at: { readonly lat: number; readonly lon: number }): void =>
    setPlace(`${at.lat.toFixed(5)}, ${at.lon.toFixed(5)}`);
  const vehicle = fresh('position', ({ position: { lat, lon } }) =>
    typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : null,
  );
  const why =
    bounds === null
      ? text.needs.place
      : !NAME.test(name)
        ? text.needs.name
        : estimate === null
          ? text.needs.estimate
          : null;
  const start = (): void => {
    if (order === null) return;
    let hasBegun = false;
    const begun = (): void => {
      if (!hasBegun) onDone(); // it is in the list from now on
      hasBegun = true;
    };
    void act.run(async () => {
      const { missing } = await call('maps.download.post', { body: order, onProgress: begun });
      say(
        missing === 0 ? text.done({ name: order.name }) : text.doneBut({ name: order.name, missing }),
        'good',
      );
      onDone();
    });
  };
  return (
    <Card title={text.title} icon={CloudDownload}>
      <p class="hint">{text.hint}</p>
      <Field label={text.source}>
        {(ids) => (
          <select {...ids} value={source?.id} onChange={({ currentTarget }) => setId(currentTarget.value)}>
            {sources.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label={text.place}
        hint={text.placeHint}
        error={place !== '' && bounds === null ? text.wrong : null}
      >
        {(ids) => (
          <input
            {...ids}
            value={place}
            placeholder="47.37690, 8.54170"
            autocomplete="off"
            onInput={({ currentTarget }) => setPlace(currentTarget.value)}
          />
        )}
      </Field>
      <Button
        icon={Crosshair}
        why={vehicle === null ? text.noVehicle : null}
        onClick={() => vehicle !== null && use(vehicle)}
      >
        {text.here}
      </Button>
      <Field label={text.radius}>
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={0.1}
            max={200}
            step="any"
            value={radius}
            onInput={({ currentTarget }) => setRadius(currentTarget.value)}
          />
        )}
      </Field>
      <Field label={text.detail}>
        {(ids) => (
          <select
            {...ids}
            value={detail}
            onChange={({ currentTarget }) =>
              setDetail(DETAILS.find((each) => each === currentTarget.value) ?? detail)
            }
          >
            {DETAILS.map((each) => (
              <option key={each} value={each}>
                {text.details[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={text.name} error={name !== '' && !NAME.test(name) ? text.wrongName : null}>
        {(ids) => (
          <input
            {...ids}
            value={name}
            maxLength={120}
            autocomplete="off"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      {estimate === null ? null : (
        <Note
          tone={
            estimate.free_bytes !== null && estimate.free_bytes < estimate.estimated_bytes ? 'warn' : 'info'
          }
        >
          <p>{text.estimate({ tiles: estimate.tiles, size: bytes(estimate.estimated_bytes) })}</p>
          <p>{text.terms({ attribution: estimate.attribution })}</p>
        </Note>
      )}
      <ErrorNote error={error ?? act.error} />
      <Button
        kind="primary"
        icon={CloudDownload}
        row="maps.download.post"
        busy={act.busy}
        why={why}
        onClick={start}
      >
        {text.start}
      </Button>
    </Card>
  );
}

interface Order {
  readonly source: string;
  readonly bbox: [number, number, number, number];
  readonly min_zoom: number;
  readonly max_zoom: number;
  readonly name: string;
}

/** What the node says of an area before it is made. */
function useEstimate(order: Order | null): {
  readonly estimate: Answer<'maps.download.post'> | null;
  readonly error: Refused | null;
} {
  const [state, setState] = useState<ReturnType<typeof useEstimate>>({ estimate: null, error: null });
  const asked = order === null ? null : JSON.stringify({ ...order, name: '' });
  useEffect(() => {
    setState({ estimate: null, error: null });
    if (order === null || !may('maps.download.post')) return;
    const stopped = new AbortController();
    const timer = setTimeout(() => {
      const body = { ...order, name: 'area.pmtiles', dry_run: true };
      call('maps.download.post', { body, signal: stopped.signal }).then(
        (estimate) => setState({ estimate, error: null }),
        (error: unknown) => {
          if (!stopped.signal.aborted && error instanceof Refused) setState({ estimate: null, error });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stopped.abort();
    };
  }, [asked]);
  return state;
}

/** The areas that are being made, by whoever began them. */
export function RunningAreas({
  downloads,
  onChange,
}: Pick<Answer<'maps.get'>, 'downloads'> & { readonly onChange: () => void }): JSX.Element | null {
  const text = t.node.maps.area;
  const act = useAct();
  if (downloads.length === 0) return null;
  return (
    <Card title={text.running} icon={CloudDownload}>
      <ul class={css['items']}>
        {downloads.map(({ name, done, total, bytes: size }) => (
          <li key={name}>
            <div>
              <strong>{name}</strong>
              <Progress
                label={text.progress({ done, total, size: bytes(size) })}
                value={total === 0 ? null : done / total}
              />
            </div>
            <Button
              icon={Square}
              row="maps.name.delete"
              explain
              busy={act.busy}
              aria-label={text.stopOne({ name })}
              onClick={() =>
                void act.run(async () => {
                  await call('maps.name.delete', { params: { name } });
                  onChange();
                })
              }
            >
              {text.stop}
            </Button>
          </li>
        ))}
      </ul>
      <ErrorNote error={act.error} />
    </Card>
  );
}
