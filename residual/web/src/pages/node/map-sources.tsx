import { Layers, Mountain } from 'lucide';
import type { JSX } from 'preact';
import type { Answer } from '../../api/rows.ts';
import css from '../../network/node.module.css';
import { bytes } from '../../parts/format.ts';
import { Card, EmptyState, Icon, Meter } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';

/** Where the tiles come from, whom they are of, and how much of them is kept. */
export function MapSources({ sources, cache }: Pick<Answer<'maps.get'>, 'sources' | 'cache'>): JSX.Element {
  const text = t.node.maps.sources;
  return (
    <Card title={text.title} icon={Layers}>
      {sources.length === 0 ? (
        <EmptyState icon={Layers} text={text.none}>
          <p class="hint">{text.how}</p>
        </EmptyState>
      ) : (
        <>
          <ul class={css['items']}>
            {sources.map(({ id, name, attribution, min_zoom: from, max_zoom: to, tile }) => (
              <li key={id}>
                <div>
                  <strong>
                    <Icon of={tile === 'terrain' ? Mountain : Layers} /> {name}
                  </strong>
                  <p class="hint">
                    {text.item({ kind: text.kinds[tile], from, to })} · {attribution}
                  </p>
                </div>
              </li>
            ))}
          </ul>
          <Meter
            label={text.cache}
            text={text.kept({ used: bytes(cache.bytes), limit: bytes(cache.limit) })}
            part={cache.limit === 0 ? null : cache.bytes / cache.limit}
          />
        </>
      )}
    </Card>
  );
}
