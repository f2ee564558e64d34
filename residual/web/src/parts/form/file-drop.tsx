import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';

/** A place to drop a file, or to choose it in; the label of the choice is `children`. */
export function FileDrop({
  accept,
  disabled,
  onFile,
  children,
}: {
  /** Endings, `.pmtiles`; what is dropped is not checked against it. */
  accept?: string;
  disabled: boolean;
  onFile: (file: File) => void;
  children: ComponentChildren;
}): JSX.Element {
  const [over, setOver] = useState(false);
  const give = (file: File | undefined): void => {
    if (file !== undefined && !disabled) onFile(file);
  };
  return (
    <label
      class={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        give(event.dataTransfer?.files[0]);
      }}
    >
      {children}
      <input
        type="file"
        {...(accept === undefined ? {} : { accept })}
        disabled={disabled}
        onChange={(event) => {
          give(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}
