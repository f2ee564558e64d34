import { CloudUpload } from 'lucide';
import type { JSX } from 'preact';
import { bytes, moment } from '../../../parts/format.ts';
import { Asked, Badge, Card, Note, Stat } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';

const EVERY_MS = 5000;
const SHOWN = 5;

/** Whether what was filmed and flown is in the store yet. */
export function Uploads(): JSX.Element {
  const asked = useAsk('uploads.get', {}, EVERY_MS);
  const { data } = asked;
  const text = t.vehicle.uploads;
  const sending = data?.uploads.find(({ state }) => state === 'uploading');
  const newest = (data?.uploads ?? []).filter(({ state }) => state === 'uploaded').slice(0, SHOWN);
  return (
    <Card title={text.title} icon={CloudUpload} wide>
      <Asked of={asked} />
      {data?.enabled === false ? <p class="hint">{text.off}</p> : null}
      {data?.problem == null ? null : <Note tone="warn">{data.problem}</Note>}
      {data?.enabled !== true ? null : (
        <>
          <p>
            {data.waiting_files === 0 ? (
              <Badge tone="good">{text.done}</Badge>
            ) : (
              <Badge tone="info">
                {data.waiting_for === null ? text.running : text.waits[data.waiting_for]}
              </Badge>
            )}
          </p>
          <dl class="stats">
            <Stat label={text.store} value={data.store ?? t.app.none} />
            <Stat
              label={text.left}
              value={text.files({ count: data.waiting_files, size: bytes(data.waiting_bytes) })}
            />
            {sending === undefined ? null : (
              <Stat
                label={sending.name}
                value={text.of({ sent: bytes(sending.sent_bytes ?? 0), size: bytes(sending.size_bytes) })}
              />
            )}
          </dl>
          {newest.length === 0 ? null : (
            <ul>
              {newest.map(({ kind, name, size_bytes: size, uploaded_at: at }) => (
                <li key={`${kind}/${name}`}>
                  {name} <span class="hint">{text.there({ size: bytes(size), at: moment(at) })}</span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Card>
  );
}
