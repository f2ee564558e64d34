import type { IconNode } from 'lucide';
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { Icon } from './icon.tsx';

/** Tabs whose choice is in the address (`#/page/tab`), so that it survives a reload. */
export function Tabs<Id extends string>({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string;
  tabs: readonly { id: Id; name: string; icon?: IconNode }[];
  chosen: Id;
  onChoose: (id: Id) => void;
}): JSX.Element {
  const move = (event: TargetedKeyboardEvent<HTMLElement>, at: number): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step === undefined ? undefined : tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next.id);
    const list = event.currentTarget.parentElement;
    list?.querySelectorAll<HTMLElement>('[role=tab]')[tabs.indexOf(next)]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {tabs.map(({ id, name, icon }, at) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === chosen}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
          onKeyDown={(event) => move(event, at)}
        >
          {icon === undefined ? null : <Icon of={icon} />}
          {name}
        </button>
      ))}
    </div>
  );
}
