import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { go, place } from '../../app/route.ts';
import { download } from '../../parts/files.ts';
import { bytes, moment } from '../../parts/format.ts';
import { GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Button, Card, ErrorNote, HoldButton, Note } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { Flights } from './flights.tsx';
import { Tlogs } from './tlogs.tsx';
import { Uploads } from './uploads.tsx';

/** In the address, behind the tab: `#/vehicle/logs/view/node/NAME`. */
const VIEW = 'view';

/** The logs that the vehicle writes in flight, and those of the node; or one of them in the viewer. */
export function LogsTab(): JSX.Element {
  return place.value.rest[1] === VIEW ? <Viewer /> : <LogLists />;
}

/** Loaded with the first log that is opened. */
function Viewer(): JSX.Element {
  const [loaded, setLoaded] = useState<{ Component: ComponentType } | 'failed' | null>(null);
  useEffect(() => {
    let shown = true;
    import('./viewer/log-viewer.tsx').then(
      ({ default: Component }) => shown && setLoaded({ Component }),
      () => shown && setLoaded('failed'),
    );
    return () => {
      shown = false;
    };
  }, []);
  if (loaded === 'failed') return <Note tone="bad">{t.app.noAnswer}</Note>;
  return loaded === null ? <p class="first">{t.vehicle.logs.loading}</p> : <loaded.Component />;
}

function LogLists(): JSX.Element {
  const { data, error, reload } = useAsk('flight-logs.get');
  const act = useAct();
  const erasing = useGuarded();
  const fetch = async (id: number): Promise<void> => {
    await act.run(async () =>
      download('flight-logs.id.get', t.vehicle.logs.file(id), { params: { id: String(id) } }),
    );
  };
  const erase = async (): Promise<void> => {
    await erasing.run(async (force) => {
      const { erased, left } = await call('flight-logs.delete', { query: { force: force ? '1' : null } });
      say(t.vehicle.logs.erased(erased, left), 'good');
      reload();
    });
  };
  return (
    <div class="page">
      <Flights logs={data?.logs ?? []} />
      <Card
        wide
        title={t.vehicle.logs.title}
        actions={<Button onClick={reload}>{t.vehicle.logs.refresh}</Button>}
      >
        <ErrorNote error={error} onRetry={reload} />
        <ErrorNote error={act.error} />
        <GuardNote act={erasing} />
        {data?.note == null ? null : <Note tone="warn">{data.note}</Note>}
        {data === null && error === null ? <p class="hint">{t.vehicle.logs.asking}</p> : null}
        {data?.count === 0 ? <p class="hint">{t.vehicle.logs.empty}</p> : null}
        {data === null || data.count === 0 ? null : (
          <>
            <div class="scroll" tabIndex={0} role="region" aria-label={t.vehicle.logs.title}>
              <table>
                <thead>
                  <tr>
                    <th class="number">{t.vehicle.logs.number}</th>
                    <th>{t.vehicle.logs.time}</th>
                    <th class="number">{t.vehicle.logs.size}</th>
                    <th>
                      <span class="visually-hidden">{t.vehicle.logs.actions}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.logs.toReversed().map(({ id, size, time, held }) => (
                    <tr key={id}>
                      <td class="number">{id}</td>
                      <td>{moment(time)}</td>
                      <td class="number">
                        {bytes(size)}
                        {held === 0 ? null : (
                          <div class="hint">
                            {held >= size ? t.vehicle.logs.here : t.vehicle.logs.partly(bytes(held))}
                          </div>
                        )}
                      </td>
                      <td class="row">
                        <Button
                          row="flight-logs.id.get"
                          explain
                          onClick={() => go('vehicle', 'logs', VIEW, 'vehicle', String(id))}
                          aria-label={t.vehicle.logs.openOf(id)}
                        >
                          {t.vehicle.logs.open}
                        </Button>
                        <Button
                          row="flight-logs.id.get"
                          explain
                          busy={act.busy}
                          onClick={() => void fetch(id)}
                          aria-label={t.vehicle.logs.downloadOf(id)}
                        >
                          {t.vehicle.logs.download}
                        </Button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <p class="hint">{t.vehicle.logs.slow}</p>
            <HoldButton
              kind="danger"
              row="flight-logs.delete"
              busy={erasing.busy}
              holdMs={2000}
              onConfirm={() => void erase()}
            >
              {t.vehicle.logs.erase}
            </HoldButton>
          </>
        )}
      </Card>
      <Tlogs onOpen={(name) => go('vehicle', 'logs', VIEW, 'node', name)} />
      <Uploads />
      <p>
        <Button onClick={() => go('vehicle', 'logs', VIEW)}>{t.vehicle.logs.openFile}</Button>
      </p>
    </div>
  );
}
