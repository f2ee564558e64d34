import { RotateCw, Star } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { shownFloat } from '../../../../../../shared/flight/shown-float.ts';
import { Badge, Button, Icon } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { isChanged, meaning, type Param } from '../../../vehicle/param.ts';
import { favourites, keepFavourite } from './favourites.ts';
import { Editor } from './param-editor.tsx';
import css from './params.module.css';
import { staged } from './staged-values.ts';

const PAGE = 60;
const text = t.vehicle.tree;

/** Parameters, a page at a time while one scrolls; the chosen one opens with what describes it and the field to change it. */
export function ParamList({
  params,
  first,
}: {
  readonly params: readonly Param[];
  /** The one that is open at first. */
  readonly first: string | null;
}): JSX.Element {
  const [open, setOpen] = useState<string | null>(first);
  const [count, setCount] = useState(PAGE);
  const more = useRef<HTMLDivElement>(null);
  const rest = params.length - count;
  useEffect(() => setCount(PAGE), [params.length]);
  useEffect(() => {
    const end = more.current;
    if (end === null || rest <= 0) return undefined;
    const watch = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting === true && setCount((now) => now + PAGE),
      { rootMargin: '600px' },
    );
    watch.observe(end);
    return () => watch.disconnect();
  }, [rest]);
  return (
    <>
      <ul class={css['list']} aria-label={t.vehicle.params.table}>
        {params.slice(0, count).map((param) => (
          <Row
            key={param.name}
            param={param}
            isOpen={open === param.name}
            onOpen={() => setOpen(open === param.name ? null : param.name)}
          />
        ))}
      </ul>
      <div ref={more}>
        {rest > 0 ? (
          <Button onClick={() => setCount(count + 5 * PAGE)}>{t.vehicle.params.more({ count: rest })}</Button>
        ) : null}
      </div>
    </>
  );
}

function Row({
  param,
  isOpen,
  onOpen,
}: {
  readonly param: Param;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}): JSX.Element {
  const { name, value, details } = param;
  const id = useId();
  const next = staged.value.get(name);
  const words = meaning(next ?? value, details);
  const label = details?.metadata?.label ?? null;
  const isStarred = favourites.value.has(name);
  const initial = details?.default ?? null;
  return (
    <li class={next === undefined ? '' : css['waiting']}>
      <div class={css['row']}>
        <span class={isStarred ? css['starred'] : ''}>
          <Button
            kind="quiet"
            icon={Star}
            aria-label={isStarred ? text.unstar({ name }) : text.star({ name })}
            onClick={() => keepFavourite(name, !isStarred)}
          />
        </span>
        <div class={css['cells']}>
          <div>
            <button
              type="button"
              class={css['open']}
              aria-expanded={isOpen}
              aria-describedby={`${id}-about ${id}-value`}
              onClick={onOpen}
            >
              {name}
            </button>
            <small id={`${id}-about`}>{label}</small>
          </div>
          <div id={`${id}-value`}>
            <span class={css['value']}>
              {next === undefined ? (
                shownFloat(value)
              ) : (
                <>
                  <s>{shownFloat(value)}</s> {shownFloat(next)}
                </>
              )}
            </span>
            <small>{words}</small>
          </div>
          <div class={css['marks']}>
            {isChanged(param) === true && initial !== null ? (
              <Badge>{text.was({ value: shownFloat(initial) })}</Badge>
            ) : null}
            {details?.metadata?.reboot_required === true && next !== undefined ? (
              <small>
                <Icon of={RotateCw} /> {text.rebootMark}
              </small>
            ) : null}
          </div>
        </div>
      </div>
      {isOpen ? <Editor param={param} /> : null}
    </li>
  );
}
