/** The pieces that every page is made of, from one place. docs/design.md says when to use which. */
export { Asked, Awaited } from './asked.tsx';
export { Button } from './button.tsx';
export { Card } from './card.tsx';
export { Copyable } from './copyable.tsx';
export { Dialog } from './dialog.tsx';
export { EmptyState } from './empty-state.tsx';
export { Meter } from './figures/meter.tsx';
export { Sparkline } from './figures/sparkline.tsx';
export { Stat } from './figures/stat.tsx';
export { Field } from './form/field.tsx';
export { Segmented } from './form/segmented.tsx';
export { HoldButton } from './hold-button.tsx';
export { Icon } from './icon.tsx';
export { Badge, ErrorNote, Note, Progress } from './note.tsx';
export { Sections } from './sections.tsx';
export { SlideConfirm } from './slide-confirm.tsx';
export { Tabs } from './tabs.tsx';
export { Unfold } from './unfold.tsx';
