import { Menu } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button, Dialog } from '../parts/parts.tsx';
import { t } from '../strings.ts';

/** The button at the end of the top bar, with what is seldom needed behind it. */
export function MenuButton({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        kind="quiet"
        icon={Menu}
        aria-label={t.app.menu}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      />
      <Dialog sheet title={title} open={open} onClose={() => setOpen(false)}>
        <div class="menu-list">{children}</div>
      </Dialog>
    </>
  );
}
