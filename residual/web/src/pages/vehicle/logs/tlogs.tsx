import { ChartLine, Download, FileClock, Server, Trash2 } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../../api/client.ts';
import { may } from '../../../api/node.ts';
import { download } from '../../../parts/files.ts';
import { bytes, moment } from '../../../parts/format.ts';
import { Asked, Button, Card, EmptyState, ErrorNote, HoldButton, Icon, Note } from '../../../parts/parts.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from './logs.module.css';
import { viewHref } from './view-address.ts';

const EVERY_MS = 10_000;

/** The telemetry logs that the node writes: open, take along, delete. */
export function Tlogs(): JSX.Element {
  const asked = useAsk('tlogs.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const act = useAct();
  const text = t.vehicle.tlogs;
  const remove = async (name: string): Promise<void> => {
    await act.run(async () => {
      await call('tlogs.name.delete', { params: { name } });
      reload();
    });
  };
  return (
    <Card title={text.title} icon={Server} wide>
      <Asked of={asked} />
      <ErrorNote error={act.error} />
      {data?.problem == null ? null : <Note tone="warn">{data.problem}</Note>}
      <p class="hint">{text.about}</p>
      {data?.tlogs.length === 0 ? <EmptyState icon={FileClock} text={text.none} /> : null}
      <ul class={css['rows']} aria-label={text.title}>
        {data?.tlogs.map(({ name, size_bytes: size, modified_at: at }) => (
          <li key={name}>
            <Icon of={FileClock} />
            <div>
              <strong>{name}</strong>
              <p class="hint">
                {name === data.writing ? text.writing : moment(at)} · {bytes(size)}
              </p>
            </div>
            <div class={css['acts']}>
              {may('tlogs.name.get') ? (
                <a
                  class="button plain"
                  href={viewHref('node', name)}
                  aria-label={t.vehicle.plots.openOne({ name })}
                >
                  <Icon of={ChartLine} /> {t.vehicle.plots.open}
                </a>
              ) : null}
              <Button
                kind="quiet"
                icon={Download}
                row="tlogs.name.get"
                aria-label={text.downloadOne({ name })}
                onClick={() =>
                  void act.run(async () => download('tlogs.name.get', name, { params: { name } }))
                }
              />
              {may('tlogs.name.delete') && name !== data.writing ? (
                <HoldButton
                  kind="plain"
                  icon={Trash2}
                  busy={act.busy}
                  label={text.deleteOne({ name })}
                  onConfirm={() => void remove(name)}
                >
                  {text.delete}
                </HoldButton>
              ) : null}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
