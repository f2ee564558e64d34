import { Search } from 'lucide';
import type { JSX, Ref } from 'preact';
import { Icon } from '../parts/parts.tsx';
import css from './hub-search.module.css';

/** Where one types a part of what one looks for; its name is read out, and stands in it while it is empty. */
export function SearchBox({
  name,
  value,
  onSearch,
  field = null,
  keys,
  onDown,
}: {
  readonly name: string;
  readonly value: string;
  readonly onSearch: (text: string) => void;
  readonly field?: Ref<HTMLInputElement> | null;
  /** Which key leads here from anywhere, as of `aria-keyshortcuts`. */
  readonly keys?: string;
  /** The arrow down leads on from here. */
  readonly onDown?: (field: HTMLInputElement) => void;
}): JSX.Element {
  return (
    <label class={css['search']}>
      <Icon of={Search} />
      <span class="visually-hidden">{name}</span>
      <input
        ref={field}
        type="search"
        placeholder={name}
        aria-keyshortcuts={keys}
        value={value}
        onInput={(event) => onSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' || onDown === undefined) return;
          event.preventDefault();
          onDown(event.currentTarget);
        }}
      />
    </label>
  );
}
