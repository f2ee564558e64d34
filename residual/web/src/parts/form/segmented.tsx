import type { IconNode } from 'lucide';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from '../icon.tsx';

/** One of two to five, all in sight. With more, or with long names, use a select. */
export function Segmented<Id extends string>({
  label,
  options,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly options: readonly { readonly id: Id; readonly name: string; readonly icon?: IconNode }[];
  readonly chosen: Id;
  readonly onChoose: (id: Id) => void;
}): JSX.Element {
  const group = useId();
  return (
    <div class="segmented" role="radiogroup" aria-label={label}>
      {options.map(({ id, name, icon }) => (
        <label key={id}>
          <input type="radio" name={group} checked={id === chosen} onChange={() => onChoose(id)} />
          {icon === undefined ? null : <Icon of={icon} />}
          {name}
        </label>
      ))}
    </div>
  );
}
