import { Circle, Film, Square } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { hrefOf } from '../../app/route.ts';
import nodeCss from '../../network/node.module.css';
import { bytes, moment } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './ground.module.css';

const EVERY_MS = 5000;
const SHOWN = 5;

/** The received video, kept on the ground station. */
export function GroundRecording(): JSX.Element {
  const asked = useAsk('ground-station.recording.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const act = useAct();
  const text = t.ground.recording;
  const toggle = (): void => {
    void act.run(async () => {
      if (data?.recording === true) await call('ground-station.recording.stop.post');
      else await call('ground-station.recording.start.post', { body: {} });
      reload();
    });
  };
  return (
    <Card title={text.title} icon={Film}>
      <Asked of={asked} />
      <ErrorNote error={act.error} />
      {data === null ? null : (
        <>
          <p>
            <Badge tone={data.recording ? 'good' : 'info'}>{data.recording ? text.on : text.off}</Badge>{' '}
            {data.current?.name ?? ''}
          </p>
          <Button
            row={
              data.recording ? 'ground-station.recording.stop.post' : 'ground-station.recording.start.post'
            }
            icon={data.recording ? Square : Circle}
            kind={data.recording ? 'danger' : 'plain'}
            busy={act.busy}
            onClick={toggle}
          >
            {data.recording ? text.stop : text.start}
          </Button>
          <ul class={nodeCss['items']}>
            {data.items.slice(0, SHOWN).map(({ name, size_bytes: size, modified_at: at }) => (
              <li key={name}>
                <div>
                  {name}
                  <p class="hint">
                    {bytes(size)} · {moment(at)}
                  </p>
                </div>
              </li>
            ))}
          </ul>
          <a class={css['onward']} href={hrefOf('node', 'video')}>
            {text.all}
          </a>
        </>
      )}
    </Card>
  );
}
