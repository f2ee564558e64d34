import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { listOf, memberOf, recordOf } from '../../../../shared/member.ts';
import { call, Refused } from '../api/client.ts';
import { Card } from '../parts/parts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import css from './extensions.module.css';
import { ExtensionFrame } from './frame.tsx';
import { SettingsForm } from './settings-form.tsx';
import { type Detailed, isOn } from './status.ts';

const LOOK_MS = 5000;

/** The places of this page in which extensions are shown, besides their own. */
export type Slot = 'fc-tab' | 'settings-section' | 'video-overlay';

interface Panel {
  readonly plugin: string;
  readonly id: string;
  readonly title: string;
  readonly data: Detailed;
}

/** The extensions that are on and may show something in this place; looked at every 5 s. */
function useExtensions(slot: Slot): {
  readonly all: readonly Detailed[];
  readonly reload: () => void;
} {
  const { data, reload } = useAsk('plugins.get', {}, LOOK_MS);
  const [all, setAll] = useState<readonly Detailed[]>([]);
  const ids = (data?.installs ?? [])
    .filter(({ status, permissions }) => isOn(status) && permissions[`ui.slot.${slot}`]?.granted === true)
    .map(({ plugin_id: id }) => id);
  useEffect(() => {
    let isOver = false;
    const look = async (id: string): Promise<readonly Detailed[]> => {
      try {
        return [await call('plugins.id.get', { params: { id } })];
      } catch (error) {
        if (error instanceof Refused) return []; // it was removed just now, or the node is away
        throw error;
      }
    };
    void Promise.all(ids.map(look)).then((found) => {
      if (!isOver) setAll(found.flat());
    });
    return () => {
      isOver = true;
    };
  }, [JSON.stringify(data)]);
  return { all, reload };
}

/** In the order that their manifests ask for. */
export function usePanels(slot: Slot): readonly Panel[] {
  return useExtensions(slot)
    .all.flatMap((data) => panelsOf(data, slot))
    .toSorted((a, b) => a.order - b.order);
}

/**
 * What its manifest contributes to this place: `gcs.contributes.panels`, each `{id, slot, title?, order?}`. An extension that names no
 * panel at all is shown in each place that it was granted.
 */
function panelsOf(data: Detailed, slot: Slot): readonly (Panel & { readonly order: number })[] {
  const { install, manifest } = data;
  if (manifest === null || manifest.gcs === null) return [];
  const plugin = install.plugin_id;
  const panels = listOf(memberOf(manifest.gcs.contributes, 'panels'));
  if (panels.length === 0)
    return slot === 'settings-section' && manifest.settings !== null
      ? []
      : [{ plugin, id: 'page', title: manifest.name, data, order: 100 }];
  return panels.flatMap((panel) => {
    const { id, slot: where, title, order } = recordOf(panel);
    if (typeof id !== 'string' || typeof where !== 'string' || where.replaceAll('.', '-') !== slot) return [];
    return [
      {
        plugin,
        id,
        title: typeof title === 'string' ? title.slice(0, 64) : manifest.name,
        data,
        order: typeof order === 'number' ? order : 100,
      },
    ];
  });
}

/** Over the picture, once the pilot puts it there: it may cover all of it. */
export function VideoOverlays(): JSX.Element | null {
  const panels = usePanels('video-overlay');
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  if (panels.length === 0) return null;
  return (
    <>
      {panels
        .filter((panel) => shown.has(keyOf(panel)))
        .map((panel) => (
          <ExtensionFrame key={keyOf(panel)} data={panel.data} slot="video-overlay" />
        ))}
      <div class={css['picture-overlays']} role="group" aria-label={t.extensions.frame.overlays}>
        {panels.map((panel) => (
          <button
            key={keyOf(panel)}
            type="button"
            aria-pressed={shown.has(keyOf(panel))}
            onClick={() => {
              const next = new Set(shown);
              if (!next.delete(keyOf(panel))) next.add(keyOf(panel));
              setShown(next);
            }}
          >
            {panel.title}
          </button>
        ))}
      </div>
    </>
  );
}

/** Below the node's own settings: the form of each, and what it shows itself. */
export function SettingsSections(): JSX.Element {
  const { all, reload } = useExtensions('settings-section');
  return (
    <>
      {all.map((data) => (
        <Card key={data.install.plugin_id} title={data.manifest?.name ?? data.install.plugin_id} wide>
          {(data.manifest?.settings ?? null) === null ? null : <SettingsForm data={data} reload={reload} />}
          {panelsOf(data, 'settings-section').map((panel) => (
            <ExtensionFrame key={keyOf(panel)} data={data} slot="settings-section" />
          ))}
        </Card>
      ))}
    </>
  );
}

function keyOf({ plugin, id }: Panel): string {
  return `${plugin} ${id}`;
}
