import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { shownTheme } from '../parts/theme.ts';
import { t } from '../strings.ts';
import { useFrames } from './context.ts';
import type { Drawn, Ground } from './drawn-map.ts';

/** Follows the view of the map that it lies in; it takes no input itself. */
export function GroundLayer({
  ground,
  onBroken,
}: {
  readonly ground: Ground;
  readonly onBroken: () => void;
}): JSX.Element {
  const frames = useFrames();
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn | null>(null);
  const [attribution, setAttribution] = useState('');
  const [missing, setMissing] = useState(false);
  const dark = shownTheme.value === 'dark';
  const latest = useRef(dark);
  latest.current = dark;
  useEffect(() => {
    let shown = true;
    let end = (): void => undefined;
    const fail = (): void => {
      if (shown) onBroken();
    };
    const begin = async (): Promise<void> => {
      const { drawGround } = await import('./drawn-map.ts');
      if (!shown || box.current === null) return;
      const begun = await drawGround(
        box.current,
        ground,
        { view: frames.view, dark: latest.current },
        { onBroken: fail, onMissing: (now) => shown && setMissing(now) },
      );
      if (!shown) {
        begun.remove();
        return;
      }
      drawn.current = begun;
      begun.paint(latest.current);
      setAttribution(begun.attribution);
      end = frames.add((live) => {
        begun.look(live);
        return false;
      });
    };
    begin().catch(fail);
    return () => {
      shown = false;
      end();
      drawn.current?.remove();
      drawn.current = null;
    };
  }, []);
  useEffect(() => drawn.current?.paint(dark), [dark]);
  return (
    <>
      <div class="base" ref={box} aria-hidden="true" />
      <Attribution text={attribution} missing={missing} />
    </>
  );
}

/** Whom the map is from. */
export function Attribution({
  text,
  missing = false,
}: {
  readonly text: string;
  readonly missing?: boolean;
}): JSX.Element | null {
  const words = [text, missing ? t.map.missing : ''].filter((part) => part !== '').join(' · ');
  return words === '' ? null : <small class="map-source">{words}</small>;
}
