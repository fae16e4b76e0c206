-- What a run has used up in tokens and money: on its rows, and besides them.
ALTER TABLE runs ADD COLUMN spent TEXT;
