import { useEffect, useState } from 'preact/hooks';
import type { Insets } from './map/state.ts';

const NARROW_PX = 700;
const NOTHING: Insets = { top: 0, right: 0, bottom: 0, left: 0 };

/**
 * What lies over the edges of the stage, measured, so that the map keeps the vehicle and its own buttons clear of it, and what is said in
 * passing stands above the commands.
 */
export function useInsets(
  stage: { readonly current: HTMLElement | null },
  parts: readonly { readonly current: HTMLElement | null }[],
  isSide: boolean,
  hasInset: boolean,
  said: { readonly current: HTMLElement | null },
): Insets {
  const [insets, setInsets] = useState(NOTHING);
  useEffect(() => {
    const box = stage.current;
    if (box === null) return;
    const look = (): void => {
      const whole = box.getBoundingClientRect();
      const [top, bottom, side, inset] = parts.map(({ current }) => current?.getBoundingClientRect());
      const under = Math.round(
        whole.bottom - Math.min(bottom?.top ?? whole.bottom, isSide ? Infinity : (side?.top ?? Infinity)),
      );
      const atRight = isSide && side !== undefined ? Math.round(whole.right - side.left) : 0;
      const next: Insets = {
        // In a wide window the chips are not above what stands at the right.
        top: Math.round(
          Math.max(
            whole.top,
            whole.width > NARROW_PX ? 0 : (top?.bottom ?? 0),
            hasInset ? (inset?.bottom ?? 0) : 0,
          ) - whole.top,
        ),
        right: atRight,
        // A phone held sideways has room beside the instruments, and none above them.
        bottom: isSide ? 0 : under,
        left: isSide ? Math.round((bottom?.right ?? whole.left) - whole.left) : 0,
      };
      setInsets((now) => (JSON.stringify(now) === JSON.stringify(next) ? now : next));
      document.documentElement.style.setProperty('--fly-dock', `${under}px`);
      const talk = said.current?.offsetHeight ?? 0;
      document.documentElement.style.setProperty('--fly-said', talk === 0 ? '0px' : `${talk + 8}px`);
      document.documentElement.style.setProperty('--fly-right', `${next.right}px`);
    };
    const observer = new ResizeObserver(look);
    for (const { current } of [stage, said, ...parts]) if (current !== null) observer.observe(current);
    look();
    return () => {
      observer.disconnect();
      document.documentElement.style.removeProperty('--fly-dock');
      document.documentElement.style.removeProperty('--fly-said');
      document.documentElement.style.removeProperty('--fly-right');
    };
  }, [isSide, hasInset]);
  return insets;
}
