import { Camera, Circle, Square, Video, VideoOff } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import type { Answer } from '../../api/rows.ts';
import { number, span } from '../../parts/format.ts';
import { LiveStill } from '../../parts/live-still.tsx';
import { Badge, Button, Card, EmptyState, ErrorNote, Note, Stat } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { type AskState, useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

type Video = Answer<'video.get'>;

const TONES = {
  off: 'info',
  down: 'bad',
  searching: 'warn',
  starting: 'warn',
  running: 'good',
  lost: 'bad',
} as const satisfies Record<Video['state'], string>;

/** A picture this old says nothing in milliseconds. */
const LATE_MS = 10_000;

/** What the camera sees now, how its stream is, and what one does with it. @param onStored a file came or went */
export function ShownCamera({
  video: { data, error, reload },
  onStored,
}: {
  readonly video: AskState<Video>;
  readonly onStored: () => void;
}): JSX.Element {
  const act = useAct();
  const text = t.node.video;
  const figure = (value: number | null | undefined, digits = 0): string | null =>
    value === null || value === undefined ? null : number(value, digits);
  const snapshot = (): void => {
    void act.run(async () => {
      const { name } = await call('video.snapshot.post');
      say(text.snapshotStored({ name }), 'good');
      onStored();
    });
  };
  const record = (): void => {
    void act.run(async () => {
      if (data?.recording === null) await call('video.record.start.post', { body: {} });
      else await call('video.record.stop.post');
      reload();
      onStored();
    });
  };
  return (
    <Card
      title={text.title}
      icon={Video}
      actions={data === null ? null : <Badge tone={TONES[data.state]}>{text.states[data.state]}</Badge>}
    >
      <ErrorNote error={error} onRetry={reload} />
      {data?.state === 'off' ? <EmptyState icon={VideoOff} text={t.fly.video.off} /> : null}
      {data === null || data.state === 'off' ? null : (
        <>
          <LiveStill label={text.now} />
          {data.problem == null ? null : <Note tone="bad">{data.problem}</Note>}
          {data.reduced == null ? null : <Note tone="warn">{text.reduced}</Note>}
          {data.recording_problem == null ? null : <Note tone="warn">{data.recording_problem}</Note>}
          <div class="row">
            <Button icon={Camera} row="video.snapshot.post" busy={act.busy} onClick={snapshot}>
              {text.snapshot}
            </Button>
            <Button
              icon={data.recording === null ? Circle : Square}
              row={data.recording === null ? 'video.record.start.post' : 'video.record.stop.post'}
              kind={data.recording === null ? 'plain' : 'danger'}
              busy={act.busy}
              onClick={record}
            >
              {data.recording === null ? text.record : text.stop}
            </Button>
            {data.recording === null ? null : (
              <span class="hint">{text.recording({ name: data.recording.name })}</span>
            )}
          </div>
          <ErrorNote error={act.error} />
          <dl class="stats">
            <Stat label={text.encoder} value={data.encoder ?? text.passed({ codec: data.codec ?? '' })} />
            <Stat label={text.fps} value={figure(data.fps, 1)} />
            <Stat label={text.bitrate} value={figure(data.bitrate_kbps)} unit="kbit/s" />
            <Stat label={text.dropped} value={figure(data.dropped)} />
            {data.last_frame_age_ms == null || data.last_frame_age_ms < LATE_MS ? (
              <Stat label={text.age} value={figure(data.last_frame_age_ms)} unit="ms" />
            ) : (
              <Stat label={text.age} value={span(data.last_frame_age_ms / 1000)} />
            )}
            <Stat
              label={text.viewers}
              value={`${data.viewers} / ${figure(data.max_viewers) ?? t.app.none}`}
            />
          </dl>
        </>
      )}
    </Card>
  );
}
