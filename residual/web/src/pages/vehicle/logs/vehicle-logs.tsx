import { ChartLine, Download, FileClock, HardDriveDownload, RefreshCw, Trash2 } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../../api/client.ts';
import { may } from '../../../api/node.ts';
import { download } from '../../../parts/files.ts';
import { bytes, moment } from '../../../parts/format.ts';
import { GuardNote, useGuarded } from '../../../parts/guarded.tsx';
import { Asked, Button, Card, EmptyState, ErrorNote, HoldButton, Icon, Note } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from './logs.module.css';
import { viewHref } from './view-address.ts';

/** The logs that the flight controller itself has written, the newest first. */
export function VehicleLogs(): JSX.Element {
  const asked = useAsk('flight-logs.get');
  const { data, error, reload } = asked;
  const act = useAct();
  const erasing = useGuarded();
  const fetch = async (id: number): Promise<void> => {
    await act.run(async () =>
      download('flight-logs.id.get', t.vehicle.logs.file({ id }), { params: { id: String(id) } }),
    );
  };
  const erase = async (): Promise<void> => {
    await erasing.run(async (force) => {
      const { erased, left } = await call('flight-logs.delete', { query: { force: force ? '1' : null } });
      say(t.vehicle.logs.erased({ erased, left }), 'good');
      reload();
    });
  };
  return (
    <Card
      wide
      title={t.vehicle.logs.title}
      icon={HardDriveDownload}
      actions={
        <Button kind="quiet" icon={RefreshCw} onClick={reload}>
          {t.vehicle.logs.refresh}
        </Button>
      }
    >
      <Asked of={asked} />
      <ErrorNote error={act.error} />
      <GuardNote act={erasing} />
      {data?.note == null ? null : <Note tone="warn">{data.note}</Note>}
      {data === null && error === null ? <p class="hint">{t.vehicle.logs.asking}</p> : null}
      {data?.count === 0 ? <EmptyState icon={FileClock} text={t.vehicle.logs.empty} /> : null}
      {data === null || data.count === 0 ? null : (
        <>
          <ul class={css['rows']} aria-label={t.vehicle.logs.title}>
            {data.logs.toReversed().map(({ id, size, time, held, complete }) => (
              <li key={id}>
                <Icon of={FileClock} />
                <div>
                  <strong>{moment(time)}</strong>
                  <p class="hint">
                    {t.vehicle.logs.number} {id} · {bytes(size)}
                    {held === 0
                      ? ''
                      : ` · ${held >= size || complete ? t.vehicle.logs.here : t.vehicle.logs.partly({ size: bytes(held) })}`}
                  </p>
                </div>
                <div class={css['acts']}>
                  {may('flight-logs.id.get') ? (
                    <a
                      class="button plain"
                      href={viewHref('vehicle', String(id))}
                      aria-label={t.vehicle.plots.openOne({ name: t.vehicle.flights.vehicleLog({ id }) })}
                    >
                      <Icon of={ChartLine} /> {t.vehicle.plots.open}
                    </a>
                  ) : null}
                  <Button
                    kind="quiet"
                    icon={Download}
                    row="flight-logs.id.get"
                    busy={act.busy}
                    onClick={() => void fetch(id)}
                    aria-label={t.vehicle.logs.downloadOf({ id })}
                  />
                </div>
              </li>
            ))}
          </ul>
          <p class="hint">{t.vehicle.logs.slow}</p>
          <HoldButton
            kind="danger"
            icon={Trash2}
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
  );
}
