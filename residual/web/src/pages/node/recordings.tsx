import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { addressOf, download } from '../../parts/files.ts';
import { bytes, moment } from '../../parts/format.ts';
import { Button, Card, Dialog, ErrorNote, HoldButton } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './node.module.css';

const EVERY_MS = 10_000;

/** Recordings and stored pictures of the node: look, take along, delete. */
export function Recordings(): JSX.Element {
  const { data, error, reload } = useAsk('video.recordings.get', {}, EVERY_MS);
  const act = useAct();
  const [shown, setShown] = useState<{
    name: string;
    kind: 'recording' | 'snapshot';
    address: string;
  } | null>(null);
  const text = t.node.recordings;
  const writing = new Set(data?.recording?.files ?? []);
  return (
    <Card title={text.title} wide>
      <ErrorNote error={error ?? act.error} onRetry={reload} />
      {data?.free_bytes == null ? null : <p class="hint">{text.free(bytes(data.free_bytes))}</p>}
      {data?.recordings.length === 0 ? <p>{text.none}</p> : null}
      <ul class={css['items']}>
        {data?.recordings.map(({ name, kind, size_bytes: size, modified_at: at }) => (
          <li key={name}>
            <div>
              <strong>{name}</strong>
              <p class="hint">
                {text.kinds[kind]} · {bytes(size)} · {moment(at)}{' '}
                {writing.has(name) ? `· ${text.writing}` : ''}
              </p>
            </div>
            <div class="row">
              <Button
                row="video.recordings.name.get"
                aria-label={text.showOne(kind === 'recording' ? text.play : text.show, name)}
                onClick={() =>
                  void act.run(async () =>
                    setShown({
                      name,
                      kind,
                      address: await addressOf('video.recordings.name.get', { params: { name } }),
                    }),
                  )
                }
              >
                {kind === 'recording' ? text.play : text.show}
              </Button>
              <Button
                row="video.recordings.name.get"
                aria-label={text.downloadOne(name)}
                onClick={() =>
                  void act.run(async () => download('video.recordings.name.get', name, { params: { name } }))
                }
              >
                {text.download}
              </Button>
              {may('video.recordings.name.delete') ? (
                <HoldButton
                  kind="danger"
                  busy={act.busy}
                  label={text.deleteOne(name)}
                  onConfirm={() =>
                    void act.run(async () => {
                      await call('video.recordings.name.delete', { params: { name } });
                      reload();
                    })
                  }
                >
                  {text.delete}
                </HoldButton>
              ) : null}
            </div>
          </li>
        ))}
      </ul>
      <Dialog title={shown?.name ?? ''} open={shown !== null} onClose={() => setShown(null)}>
        {shown?.kind === 'recording' ? (
          // A film of the camera has no words to write below it.
          // biome-ignore lint/a11y/useMediaCaption: no sound is recorded
          <video class={css['shown']} controls autoplay muted playsInline src={shown.address} />
        ) : null}
        {shown?.kind === 'snapshot' ? (
          <img class={css['shown']} alt={shown.name} src={shown.address} />
        ) : null}
      </Dialog>
    </Card>
  );
}
