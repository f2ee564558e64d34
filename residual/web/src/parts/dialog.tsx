import { X } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../strings.ts';
import { Button } from './button.tsx';
import { Toasts, useOver } from './toast.tsx';

/** A modal question; Escape and the back of the window close it. */
export function Dialog({
  title,
  open,
  sheet = false,
  onClose,
  children,
}: {
  title: string;
  open: boolean;
  /** From below on a phone, at the side of a wide window. */
  sheet?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // With what it shows, in the same picture: who touched waits for one.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog === null || dialog.open === open) return;
    if (open) dialog.showModal();
    else dialog.close();
  }, [open]);
  useOver(open);
  useEffect(() => {
    const dialog = ref.current;
    // A tap beside it, which is a tap on the dialog itself and not on what stands in it. By keyboard it is Escape.
    const onPress = ({ target, clientX: x, clientY: y }: PointerEvent): void => {
      if (dialog === null || target !== dialog) return;
      const { left, right, top, bottom } = dialog.getBoundingClientRect();
      if (x < left || x > right || y < top || y > bottom) dialog.close();
    };
    dialog?.addEventListener('pointerdown', onPress);
    return () => dialog?.removeEventListener('pointerdown', onPress);
  }, []);
  return (
    <dialog ref={ref} class={sheet ? 'sheet' : ''} aria-labelledby={id} onClose={onClose}>
      {open ? (
        <>
          <header>
            <h2 id={id}>{title}</h2>
            {/* Shut first, which says `close`: what it showed is taken away when nothing of it is drawn any more. */}
            <Button kind="quiet" icon={X} onClick={() => ref.current?.close()} aria-label={t.app.close} />
          </header>
          <Toasts inDialog />
          {children}
        </>
      ) : null}
    </dialog>
  );
}
