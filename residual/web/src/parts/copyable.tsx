import { Check, Copy } from 'lucide';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../strings.ts';
import { Button } from './button.tsx';

/** A text to take along: a key, a token, a command line. */
export function Copyable({ label, text }: { label: string; text: string }): JSX.Element {
  const [done, setDone] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const copy = (): void => {
    // Without https there is no clipboard: the text is selected, to be copied by hand.
    field.current?.select();
    void navigator.clipboard?.writeText(text).then(
      () => setDone(true),
      () => setDone(false),
    );
  };
  return (
    <div class="copyable">
      <input
        ref={field}
        readOnly
        aria-label={label}
        value={text}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button icon={done ? Check : Copy} onClick={copy}>
        {done ? t.app.copied : t.app.copy}
      </Button>
    </div>
  );
}
