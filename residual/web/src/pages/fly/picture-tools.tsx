import { Camera, Circle, Maximize, Minimize, PictureInPicture2, Ratio, Square } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { CameraChoice } from '../../parts/camera-choice.tsx';
import { bytes, span } from '../../parts/format.ts';
import { Badge, Button } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import type { Watching } from '../../video/watching.ts';
import css from './picture.module.css';
import { popOut } from './pop-out.ts';
import { isWhole, showWhole } from './use-picture.ts';

// A phone's browser that shows no other element than a film over the whole screen.
type PhoneVideo = HTMLVideoElement & { webkitEnterFullscreen?: () => void };

/** What can be done with the picture, as icons beside it. @param whole what becomes the full screen: the commands come along */
export function PictureTools({
  watching,
  video,
  whole,
}: {
  readonly watching: Watching;
  readonly video: { readonly current: PhoneVideo | null };
  readonly whole: { readonly current: HTMLElement | null };
}): JSX.Element {
  const { busy, run } = useAct();
  const recording = watching.recording.value;
  const isFull = useFullScreen();
  const noPicture = watching.way.value === null ? t.fly.video.none({ problem: null }) : null;
  const act = (work: () => Promise<string>): void => {
    void run(async () => {
      try {
        say(await work(), 'good');
      } catch (error) {
        say(error instanceof Error ? error.message : String(error), 'bad');
      }
      await watching.look();
    });
  };
  const record = async (): Promise<string> => {
    if (recording === null) {
      const { name } = await call('video.record.start.post', { body: {} });
      return t.fly.video.recording({ time: '0 s', size: name });
    }
    const { name } = await call('video.record.stop.post');
    return t.fly.video.recorded({ name });
  };
  const full = (): void => {
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    else if (document.fullscreenEnabled) void whole.current?.requestFullscreen();
    else video.current?.webkitEnterFullscreen?.();
  };
  return (
    <div class={css['tools']} role="group" aria-label={t.fly.video.tools}>
      <CameraChoice shown={watching.status.value?.camera ?? null} onShown={async () => watching.look()} />
      <div class={css['icons']}>
        <Button
          row={recording === null ? 'video.record.start.post' : 'video.record.stop.post'}
          icon={recording === null ? Circle : Square}
          aria-label={recording === null ? t.fly.video.record : t.fly.video.recordStop}
          aria-pressed={recording !== null}
          busy={busy}
          why={recording === null ? noPicture : null}
          onClick={() => act(record)}
        />
        <Button
          row="video.snapshot.post"
          icon={Camera}
          aria-label={t.fly.video.snapshot}
          busy={busy}
          why={noPicture}
          onClick={() =>
            act(async () => t.fly.video.taken({ name: (await call('video.snapshot.post')).name }))
          }
        />
        <Button
          icon={Ratio}
          aria-label={t.fly.video.whole}
          aria-pressed={isWhole.value}
          onClick={() => showWhole(!isWhole.peek())}
        />
        {watching.way.value === 'stills' ? null : (
          <Button
            icon={PictureInPicture2}
            aria-label={t.fly.video.window}
            why={noPicture}
            onClick={() => {
              if (video.current !== null) popOut(video.current, t.fly.video.label);
            }}
          />
        )}
        {document.fullscreenEnabled || video.current?.webkitEnterFullscreen !== undefined ? (
          <Button
            icon={isFull ? Minimize : Maximize}
            aria-label={t.fly.video.full}
            aria-pressed={isFull}
            onClick={full}
          />
        ) : null}
      </div>
    </div>
  );
}

/** Whether it is recorded, and why the last recording ended: also where the map is large. */
export function Recording({ watching }: { readonly watching: Watching }): JSX.Element | null {
  const recording = watching.recording.value;
  const ended = watching.status.value?.recording_problem ?? null;
  if (recording !== null)
    return (
      <Badge tone="bad">
        {t.fly.video.recording({ time: span(recording.duration_seconds), size: bytes(recording.size_bytes) })}
      </Badge>
    );
  return ended === null ? null : <Badge tone="warn">{t.fly.video.stopped({ why: ended })}</Badge>;
}

function useFullScreen(): boolean {
  const [is, setIs] = useState(document.fullscreenElement !== null);
  useEffect(() => {
    const look = (): void => setIs(document.fullscreenElement !== null);
    document.addEventListener('fullscreenchange', look);
    return () => document.removeEventListener('fullscreenchange', look);
  }, []);
  return is;
}
