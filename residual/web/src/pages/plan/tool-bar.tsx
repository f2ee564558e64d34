import {
  Building2,
  CircleDashed,
  Flag,
  FolderOpen,
  type IconNode,
  LandPlot,
  MapPin,
  Orbit,
  Pentagon,
  PlaneLanding,
  PlaneTakeoff,
  Route,
} from 'lucide';
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { wordFor } from '../../language/words.ts';
import type { Place } from '../../map/projection.ts';
import { Button } from '../../parts/button.tsx';
import { t } from '../../strings.ts';
import { type Drawing, TOOLS, type Tool } from './drawing.ts';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';

export const TOOL_ICONS: Readonly<Record<Tool, IconNode>> = {
  waypoint: MapPin,
  takeoff: PlaneTakeoff,
  land: PlaneLanding,
  survey: LandPlot,
  corridor: Route,
  orbit: Orbit,
  structure: Building2,
  fence: Pentagon,
  circle: CircleDashed,
  rally: Flag,
};

/** What can be drawn; one key moves on from button to button. */
export function ToolBar({
  drawing,
  onFiles,
}: {
  readonly drawing: Drawing;
  readonly onFiles: () => void;
}): JSX.Element {
  const move = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const at = buttons.findIndex((button) => button === document.activeElement);
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
    event.preventDefault();
  };
  return (
    <div
      class={css['tools']}
      role="toolbar"
      tabIndex={-1}
      aria-label={planWords.tools.label}
      onKeyDown={move}
    >
      {TOOLS.map((tool) => (
        <Button
          key={tool}
          icon={TOOL_ICONS[tool]}
          aria-pressed={drawing.tool.value === tool}
          onClick={() => drawing.take(tool)}
        >
          {planWords.tools[tool]}
        </Button>
      ))}
      <Button icon={FolderOpen} onClick={onFiles}>
        {planWords.file.button}
      </Button>
    </div>
  );
}

/** What the tool in hand waits for, and how to go on without tapping the map. */
export function DrawingBar({
  drawing,
  middle,
}: {
  readonly drawing: Drawing;
  /** Of what is to be seen. */
  readonly middle: Place;
}): JSX.Element | null {
  const tool = drawing.tool.value;
  if (tool === null) return null;
  const { missing } = drawing;
  const count = drawing.corners.value.length;
  const isMade = drawing.isMade.value;
  const text =
    missing === null
      ? wordFor(planWords.tapOne, tool)
      : `${wordFor(planWords.tapCorners, tool) ?? ''} ${count > 0 && missing > 0 ? planWords.tapMore({ count: missing }) : ''}`;
  return (
    <div class={css['drawing']} role="status">
      <span>{text}</span>
      <div class="row">
        {missing === null ? (
          <Button
            onClick={() =>
              tool === 'orbit' || tool === 'circle' ? drawing.template(tool, middle) : drawing.pick(middle)
            }
          >
            {planWords.here}
          </Button>
        ) : count === 0 ? (
          tool === 'corridor' ? (
            <Button onClick={() => drawing.template('line', middle)}>{planWords.line}</Button>
          ) : (
            <>
              <Button onClick={() => drawing.template('square', middle)}>{planWords.square}</Button>
              <Button onClick={() => drawing.template('circle', middle)}>{planWords.circleShape}</Button>
            </>
          )
        ) : (
          <>
            <Button onClick={() => drawing.takeBack()}>{planWords.lastCorner}</Button>
            {isMade ? (
              <Button kind="primary" onClick={() => drawing.end()}>
                {planWords.done}
              </Button>
            ) : null}
          </>
        )}
        {isMade ? null : (
          <Button onClick={() => drawing.end()}>{missing === null ? planWords.done : t.app.cancel}</Button>
        )}
      </div>
    </div>
  );
}
