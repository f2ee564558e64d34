import { Download, Film, Image as ImageIcon, Play, Trash2 } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, Refused, send } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { addressOf, download } from '../../parts/files.ts';
import { bytes, moment } from '../../parts/format.ts';
import {
  Asked,
  Badge,
  Button,
  Card,
  Dialog,
  EmptyState,
  ErrorNote,
  HoldButton,
  Icon,
} from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './recordings.module.css';

type File = Answer<'video.recordings.get'>['recordings'][number];

const EVERY_MS = 10_000;
/** Shown at first, and more by each press. */
const PAGE = 24;

/** Recordings and stored pictures of the node: look, take along, delete. */
export function Recordings(): JSX.Element {
  const asked = useAsk('video.recordings.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const act = useAct();
  const [count, setCount] = useState(PAGE);
  const [shown, setShown] = useState<{ readonly file: File; readonly address: string } | null>(null);
  const text = t.node.recordings;
  const writing = new Set(data?.recording?.files ?? []);
  const files = data?.recordings ?? [];
  const show = async (file: File): Promise<void> =>
    setShown({
      file,
      address: await addressOf('video.recordings.name.get', { params: { name: file.name } }),
    });
  return (
    <Card
      title={text.title}
      icon={Film}
      wide
      actions={
        data?.free_bytes == null ? null : (
          <span class="hint">{text.free({ size: bytes(data.free_bytes) })}</span>
        )
      }
    >
      <Asked of={asked} />
      <ErrorNote error={act.error} />
      {data?.recordings.length === 0 ? <EmptyState icon={Film} text={text.none} /> : null}
      <ul class={css['grid']}>
        {files.slice(0, count).map((file) => (
          <Tile
            key={file.name}
            file={file}
            writing={writing.has(file.name)}
            busy={act.busy}
            onShow={() => void act.run(async () => show(file))}
            onDownload={() =>
              void act.run(async () =>
                download('video.recordings.name.get', file.name, { params: { name: file.name } }),
              )
            }
            onDelete={() =>
              void act.run(async () => {
                await call('video.recordings.name.delete', { params: { name: file.name } });
                reload();
              })
            }
          />
        ))}
      </ul>
      {files.length > count ? (
        <Button onClick={() => setCount(count + PAGE)}>{text.more({ count: files.length - count })}</Button>
      ) : null}
      <Dialog title={shown?.file.name ?? ''} open={shown !== null} onClose={() => setShown(null)}>
        {shown?.file.kind === 'recording' ? (
          // A film of the camera has no words to write below it.
          // biome-ignore lint/a11y/useMediaCaption: no sound is recorded
          <video class={css['shown']} controls autoplay muted playsInline src={shown.address} />
        ) : null}
        {shown?.file.kind === 'snapshot' ? (
          <img class={css['shown']} alt={shown.file.name} src={shown.address} />
        ) : null}
      </Dialog>
    </Card>
  );
}

function Tile({
  file,
  writing,
  busy,
  onShow,
  onDownload,
  onDelete,
}: {
  readonly file: File;
  readonly writing: boolean;
  readonly busy: boolean;
  readonly onShow: () => void;
  readonly onDownload: () => void;
  readonly onDelete: () => void;
}): JSX.Element {
  const text = t.node.recordings;
  const { name, kind, size_bytes: size, modified_at: at } = file;
  return (
    <li>
      <button
        type="button"
        class={css['open']}
        disabled={!may('video.recordings.name.get')}
        aria-label={text.showOne({ what: kind === 'recording' ? text.play : text.show, name })}
        onClick={onShow}
      >
        {kind === 'snapshot' ? <Thumbnail name={name} /> : <Icon of={Play} />}
      </button>
      <div class={css['about']}>
        <strong title={name}>{name}</strong>
        <span class="hint">
          {moment(at)} · {bytes(size)}
        </span>
        {writing ? <Badge tone="bad">{text.writing}</Badge> : null}
      </div>
      <div class={css['acts']}>
        <Button
          kind="quiet"
          icon={Download}
          row="video.recordings.name.get"
          busy={busy}
          aria-label={text.downloadOne({ name })}
          onClick={onDownload}
        />
        {may('video.recordings.name.delete') ? (
          <HoldButton kind="plain" busy={busy} label={text.deleteOne({ name })} onConfirm={onDelete}>
            <Icon of={Trash2} />
          </HoldButton>
        ) : null}
      </div>
    </li>
  );
}

/** The picture itself, asked for when its place comes into sight. */
function Thumbnail({ name }: { readonly name: string }): JSX.Element {
  const place = useRef<HTMLSpanElement>(null);
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const stopped = new AbortController();
    let made: string | null = null;
    const load = async (): Promise<void> => {
      try {
        const answer = await send('video.recordings.name.get', { params: { name }, signal: stopped.signal });
        const blob = await answer.blob();
        if (stopped.signal.aborted) return;
        made = URL.createObjectURL(blob);
        setUrl(made);
      } catch (error) {
        // It was deleted meanwhile, or the page moved on: the icon stays.
        if (!stopped.signal.aborted && !(error instanceof Refused)) throw error;
      }
    };
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      seen.disconnect();
      void load();
    });
    if (place.current !== null) seen.observe(place.current);
    return () => {
      stopped.abort();
      seen.disconnect();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [name]);
  return <span ref={place}>{url === null ? <Icon of={ImageIcon} /> : <img src={url} alt="" />}</span>;
}
