import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { download } from '../../parts/files.ts';
import { bytes, moment } from '../../parts/format.ts';
import { Button, Card, ErrorNote, HoldButton, Note } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

const EVERY_MS = 10_000;

/** The telemetry logs that the node writes: open, take along, delete. */
export function Tlogs({ onOpen }: { onOpen: (name: string) => void }): JSX.Element {
  const { data, error, reload } = useAsk('tlogs.get', {}, EVERY_MS);
  const act = useAct();
  const text = t.vehicle.tlogs;
  const remove = async (name: string): Promise<void> => {
    await act.run(async () => {
      await call('tlogs.name.delete', { params: { name } });
      reload();
    });
  };
  return (
    <Card title={text.title} wide>
      <ErrorNote error={error ?? act.error} onRetry={reload} />
      {data?.problem == null ? null : <Note tone="warn">{data.problem}</Note>}
      <p class="hint">{text.about}</p>
      {data?.tlogs.length === 0 ? <p>{text.none}</p> : null}
      {data === null || data.tlogs.length === 0 ? null : (
        <div class="scroll" tabIndex={0} role="region" aria-label={text.title}>
          <table>
            <thead>
              <tr>
                <th>{text.name}</th>
                <th>{text.until}</th>
                <th class="number">{text.size}</th>
                <th>
                  <span class="visually-hidden">{text.actions}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.tlogs.map(({ name, size_bytes: size, modified_at: at }) => (
                <tr key={name}>
                  <td>{name}</td>
                  <td>{name === data.writing ? text.writing : moment(at)}</td>
                  <td class="number">{bytes(size)}</td>
                  <td class="row">
                    <Button row="tlogs.name.get" aria-label={text.openOne(name)} onClick={() => onOpen(name)}>
                      {text.open}
                    </Button>
                    <Button
                      row="tlogs.name.get"
                      aria-label={text.downloadOne(name)}
                      onClick={() =>
                        void act.run(async () => download('tlogs.name.get', name, { params: { name } }))
                      }
                    >
                      {text.download}
                    </Button>
                    {may('tlogs.name.delete') && name !== data.writing ? (
                      <HoldButton
                        kind="danger"
                        busy={act.busy}
                        label={text.deleteOne(name)}
                        onConfirm={() => void remove(name)}
                      >
                        {text.delete}
                      </HoldButton>
                    ) : null}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
