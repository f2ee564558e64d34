import { Map as MapIcon } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import css from '../../network/node.module.css';
import { download } from '../../parts/files.ts';
import { FileDrop } from '../../parts/form/file-drop.tsx';
import { upload } from '../../parts/form/upload.ts';
import { bytes, moment } from '../../parts/format.ts';
import {
  Asked,
  Button,
  Card,
  EmptyState,
  ErrorNote,
  HoldButton,
  Note,
  Progress,
} from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { MapArea, RunningAreas } from './map-area.tsx';
import { MapSources } from './map-sources.tsx';

/** How often the list is asked for: while an area is being made, and otherwise, since others may begin one. */
const RUNNING_MS = 1500;
const IDLE_MS = 15_000;

/** Map sources, offline areas and map files for places without internet: PMTiles. */
export function MapsTab(): JSX.Element {
  const [isRunning, setRunning] = useState(false);
  const asked = useAsk('maps.get', {}, isRunning ? RUNNING_MS : IDLE_MS);
  const { data, reload } = asked;
  const running = (data?.downloads.length ?? 0) > 0;
  useEffect(() => setRunning(running), [running]);
  const act = useAct();
  const text = t.node.maps;
  return (
    <div class="page">
      {data === null ? null : <RunningAreas downloads={data.downloads} onChange={reload} />}
      {data === null ? null : <MapSources sources={data.sources} cache={data.cache} />}
      {data === null || data.sources.length === 0 || !may('maps.download.post') ? null : (
        <MapArea sources={data.sources} onDone={reload} />
      )}
      {may('maps.name.put') ? <Upload onDone={reload} /> : null}
      <Card title={text.title} wide>
        <Asked of={asked} />
        <ErrorNote error={act.error} />
        {data?.problem == null ? null : <Note tone="warn">{data.problem}</Note>}
        {data === null ? null : (
          <p class="hint">{data.free_bytes === null ? '' : text.free({ size: bytes(data.free_bytes) })}</p>
        )}
        {data?.maps.length === 0 ? <EmptyState icon={MapIcon} text={text.none} /> : null}
        <ul class={css['items']}>
          {data?.maps.map((map) => (
            <li key={map.name}>
              <div>
                <strong>{map.name_of_map ?? map.name}</strong>
                <p class="hint">
                  {text.item({
                    name: map.name,
                    size: bytes(map.size_bytes),
                    type: map.tile_type,
                    from: map.min_zoom,
                    to: map.max_zoom,
                  })}
                  {' · '}
                  {moment(map.modified_at)}
                </p>
              </div>
              <div class="row">
                <Button
                  row="maps.name.get"
                  aria-label={text.downloadOne({ name: map.name })}
                  onClick={() =>
                    void act.run(async () =>
                      download('maps.name.get', map.name, { params: { name: map.name } }),
                    )
                  }
                >
                  {text.download}
                </Button>
                {may('maps.name.delete') ? (
                  <HoldButton
                    kind="danger"
                    busy={act.busy}
                    label={text.deleteOne({ name: map.name })}
                    onConfirm={() =>
                      void act.run(async () => {
                        await call('maps.name.delete', { params: { name: map.name } });
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
      </Card>
    </div>
  );
}

/** What the node takes as a file name. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

function Upload({ onDone }: { onDone: () => void }): JSX.Element {
  const [share, setShare] = useState<number | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const act = useAct();
  const text = t.node.maps;
  const send = (file: File): void => {
    const name = file.name.replaceAll(/[^A-Za-z0-9._-]+/g, '-');
    if (!NAME.test(name) || !name.endsWith('.pmtiles')) {
      setWrong(text.wrong({ name: file.name }));
      return;
    }
    setWrong(null);
    void act.run(async () => {
      setShare(0);
      try {
        await upload('maps.name.put', { params: { name } }, file, setShare);
      } finally {
        setShare(null);
      }
      say(text.stored({ name }), 'good');
      onDone();
    });
  };
  return (
    <Card title={text.add}>
      <FileDrop accept=".pmtiles" disabled={act.busy} onFile={send}>
        {text.drop}
      </FileDrop>
      <p class="hint">{text.hint}</p>
      {share === null ? null : (
        <Progress
          label={share < 1 ? text.sending({ percent: Math.round(share * 100) }) : text.checking}
          value={share}
        />
      )}
      {wrong === null ? null : <Note tone="bad">{wrong}</Note>}
      <ErrorNote error={act.error} />
    </Card>
  );
}
