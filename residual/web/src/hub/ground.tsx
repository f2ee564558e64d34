import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { MapSource } from '../map/map-style.ts';
import { Outline } from '../map/outline.tsx';
import { credential } from './client.ts';
import { useHub } from './use-hub.ts';

type Layer = typeof import('../map/ground-layer.tsx').GroundLayer;

/** What lies under a map: the first tile server that the hub has, where the browser can draw it, over the outline of the world. */
export function useGround(): ComponentChildren {
  const { data } = useHub<{ readonly sources: readonly MapSource[] }>('/v1/maps');
  const source = data?.sources.find(({ tile }) => tile === 'raster');
  const [layer, setLayer] = useState<{ readonly Layer: Layer } | null>(null);
  useEffect(() => {
    if (source === undefined) return;
    const load = async (): Promise<void> => {
      const [{ GroundLayer: Layer }, { askWith }] = await Promise.all([
        import('../map/ground-layer.tsx'),
        import('../map/tile-protocols.ts'),
      ]);
      askWith(
        (): Readonly<Record<string, string>> =>
          credential.value === null ? {} : { authorization: `Bearer ${credential.value}` },
      );
      setLayer({ Layer });
    };
    load().catch(() => undefined); // the outline stays
  }, [source?.id]);
  return (
    <>
      <Outline />
      {source === undefined || layer === null ? null : (
        <layer.Layer
          ground={{
            kind: 'source',
            source,
            tiles: `/v1/maps/${encodeURIComponent(source.id)}/tile?z={z}&x={x}&y={y}`,
          }}
          onBroken={() => setLayer(null)}
        />
      )}
    </>
  );
}
